/** The `--help` of every command. Plain data and built-ins only: it must work before the install. */
const environment = [
  ['LAPSE_MYSQL_URL', 'use this MySQL or MariaDB: mysql://user:password@host:port/database'],
  ['LAPSE_REDIS_URL', 'use this Redis: redis://host:port'],
  ['LAPSE_ROCKETMQ_ENDPOINTS', 'use this RocketMQ 5 proxy (gRPC): host:port'],
  ['LAPSE_ROCKETMQ_NAMESRV', 'its name server, to create topics and groups: host:port'],
  ['LAPSE_CACHE_DIR', 'where RocketMQ is downloaded to, once (~/.cache/lapse)'],
  ['LAPSE_INSTALL=never', 'never install a missing program with apt; print the commands instead'],
  ['LAPSE_SERVICES', 'the same as --services'],
];

const services = [
  '--services=HOW',
  'external: only the endpoints of the environment; local: private instances on their own ports; ' +
    'compose: infra/compose.yaml. Left out: endpoints that are given are used, the rest is local if its ' +
    'programs are here, else compose if an engine answers, else installed with apt (Debian and Ubuntu, root)',
];

export const commands = {
  start: {
    usage: 'npm start -- [options]',
    summary:
      'Starts everything: services, schema, topics, producer, reminder, closer, sweeper, settler, a ' +
      'payment simulator and the page, and a demo activity; then prints the addresses and a curl that places an order. Ctrl-C stops it all.',
    options: [
      services,
      ['--reset', 'wipe .lapse/ (data, logs, demo secrets) first'],
      ['--port=N', 'port of the API (LAPSE_HTTP_PORT, or 8080; the next free one when taken)'],
      ['--for=SECONDS', 'stop by itself after so long, with exit code 0: for scripts'],
      [
        '--no-apps',
        'services, schema and topics only; the environment for `npm run dev` is in .lapse/dev.env',
      ],
    ],
    environment,
  },
  test: {
    usage: 'npm test -- [options]',
    summary:
      'Private services for tests alone, then lint, types, import rules, dead code and every test of ' +
      'every package against real services. The last line is `N passed, N failed`.',
    options: [
      ['--only=PACKAGE', 'the tests of one package, such as @lapse/stock; no other checks'],
      ['--keep', 'leave the data folder .lapse-test/ for a look afterwards'],
      ['--concurrency=N', 'packages tested at once, where the machine has room (4)'],
    ],
    environment: [
      ...environment.filter(([name]) => /INSTALL|CACHE/.test(name)),
      ['LAPSE_TEST_MYSQL_URL', 'test on this MySQL or MariaDB, as a user who may create databases'],
      [
        'LAPSE_TEST_REDIS_URL',
        'test on this Redis or Valkey, which needs some hundred databases (--databases 4096)',
      ],
    ],
  },
  demo: {
    usage: 'npm run demo -- [options]',
    summary:
      'A thousand buyers over HTTP against two activities; uses the running `npm start` of this folder, ' +
      'or starts and stops everything itself. Exit code 0 only if every invariant holds.',
    options: [
      services,
      ['--real-time', 'true windows: reminder at 10 minutes, close at 15 (a 16-minute run)'],
      ['--buyers=N', 'how many people come (1000)'],
      ['--steady=N', 'instead of a sale: N orders a second for a minute, none paid (1 to 200)'],
    ],
    environment,
  },
  chaos: {
    usage: 'npm run chaos -- [options]',
    summary:
      'Every process under load while broker, database, Redis and workers are killed, frozen, cut off and ' +
      "rolled back by a seeded plan; then the oracle and the buyers' own ledger judge. Private services in " +
      '.lapse-chaos/. Exit code 0 only if nothing is lost, doubled, early or stuck.',
    options: [
      ['--minutes=N', 'how long faults are made, 0.2 to 720 (2); start and the way to rest come on top'],
      ['--seed=N', 'the plan of faults and buyers; the same number plays the same plan (random)'],
      ['--keep', 'leave data and logs in .lapse-chaos/ for a look afterwards'],
    ],
    environment: environment.filter(([name]) => /INSTALL|CACHE/.test(name)),
  },
  cluster: {
    usage: 'npm run cluster',
    summary:
      'RocketMQ as a cluster of two masters, one with a slave that acts as its master: that one is killed under load, and ' +
      'comes back. Prints who closed how many orders and how late. Private services in .lapse-cluster/. Exit code 0 only ' +
      'if no order is lost or early, and none is more than 20 s late.',
    options: [],
    environment: environment.filter(([name]) => /INSTALL|CACHE/.test(name)),
  },
  outages: {
    usage: 'npm run outages -- [options]',
    summary:
      'Takes broker, MySQL and Redis away from every process under a steady load, each for 5 s, 60 s and 5 minutes, by ' +
      'killing it and by cutting its network, and measures how soon all is as before. Private services in ' +
      '.lapse-outages/; 30 minutes. Exit code 0 only if everything recovers and nothing is lost, doubled or early.',
    options: [
      ['--quick', 'those of 5 s alone: four minutes'],
      ['--only=SERVICE', 'broker, mysql or redis, or one outage: mysql:60, mysql:60:cut; may be given again'],
      ['--json=FILE', 'all figures, with the machine'],
      ['--keep', 'leave data and logs in .lapse-outages/ for a look afterwards'],
    ],
    environment: environment.filter(([name]) => /INSTALL|CACHE/.test(name)),
  },
  drills: {
    usage: 'npm run drills -- [options]',
    summary:
      'The disasters of infra/RUNBOOK.md, played for real: Redis lost with its disk, the store of the broker lost, ' +
      'MySQL restored from a backup while the sale goes on. Private services in .lapse-drills/. Exit code 0 only if ' +
      'each ends as the runbook says.',
    options: [
      ['--only=NAME', 'redis, broker or mysql; may be given again'],
      ['--backup-age=SECONDS', 'how old the backup of MySQL is when it is restored, 20 to 3600 (60)'],
      ['--keep', 'leave data and logs in .lapse-drills/ for a look afterwards'],
    ],
    environment: environment.filter(([name]) => /INSTALL|CACHE/.test(name)),
  },
  'check:deploy': {
    usage: 'npm run check:deploy',
    summary:
      'Writes the production tree of every image as its Dockerfile does, starts each from it alone on private ' +
      'services, and checks the Dockerfile, the compose files and the Kubernetes manifests. Needs no container engine. ' +
      'The last line is `deploy: images=N/N manifests=ok`.',
    options: [],
    environment: environment.filter(([name]) => /INSTALL|CACHE/.test(name)),
  },
  'check:supply': {
    usage: 'npm run check:supply -- [options]',
    summary:
      'Licences of every package in the images against a list of allowed ones, and what the registry knows to be faulty, ' +
      'where it answers. The last line is `supply: packages=N licences=ok audit=ok`.',
    options: [['--sbom=FOLDER', 'write a bill of materials of each image there (CycloneDX)']],
    environment: [],
  },
  bench: {
    usage: 'npm run bench -- [options]',
    summary:
      'Measures Lapse beside the bare limit of its stores and beside what people use instead, in interleaved ' +
      'rounds on private services in .lapse-bench/. Each run is judged: one that is not exact has no figure, and ' +
      'the exit code is 1. The last line has the ratios.',
    options: [
      ['--quick', 'small sizes, one round, and only what the last line names'],
      [
        '--only=NAME',
        'one scenario, such as close-burst, or some of its contenders: close-burst:limit,lapse; may be given again',
      ],
      [
        '--json=FILE',
        'all figures, with machine, versions and settings; npm run bench:report makes the report of it',
      ],
      ['--html=FILE', 'the same as a page with pictures'],
      [
        '--rounds=N',
        'how often each contender runs, 1 to 100 (3, or less where a scenario says so; 1 with --quick)',
      ],
      ['--orders=N', 'orders of a run instead of the size of the scenario, 100 to 1000000'],
    ],
    environment: environment.filter(([name]) => /INSTALL|CACHE/.test(name)),
  },
  'bench:report': {
    usage: 'npm run bench:report',
    summary: 'Puts figures and pictures of infra/bench/result.json into infra/bench/REPORT.md.',
    options: [],
    environment: [],
  },
  'bench:scale': {
    usage: 'npm run bench:scale',
    summary:
      'What one and ten million orders due in one minute take, by the costs that were measured (infra/decisions/0014).',
    options: [],
    environment: [],
  },
  'bench:year': {
    usage: 'npm run bench:year -- [ORDERS]',
    summary:
      'What a year of orders leaves in MySQL, and what closing costs beside it, kept and archived; on a MariaDB of its own.',
    options: [['ORDERS', 'of the whole year, from 10000 (500000)']],
    environment: [],
  },
  traces: {
    usage: 'npm run traces -- [PORT]',
    summary:
      'A collector on this machine: prints the trace of each order once the order is over. Processes send to it with ' +
      'LAPSE_TRACES_URL.',
    options: [['PORT', 'where it listens (4318)']],
    environment: [],
  },
  readme: {
    usage: 'npm run readme',
    summary: 'Writes the table of settings into README.md.',
    options: [],
    environment: [],
  },
  simulate: {
    usage: 'npm run simulate -- [options]',
    summary:
      'Histories of the whole system on modelled stores and broker, each decided by its number alone: nothing ' +
      'is started. Exit code 0 only if every invariant holds in each.',
    options: [
      ['--seed=N', 'one history'],
      ['--seeds=FROM..TO', 'many: 1..1000'],
      ['--trace', 'print every step'],
      ['--without=FAULTS', 'leave out these faults, with commas between; a wrong name lists all'],
      [
        '--off=GUARDS',
        'take away these guards, to see what they keep from happening; a wrong name lists all',
      ],
    ],
    environment: [],
  },
  lapse: {
    usage: 'npm run lapse -- COMMAND [options]',
    summary:
      'Answers any question about an order and makes every repair, from the stores themselves. `npm run lapse -- ' +
      '--help` lists its commands.',
    options: [],
    environment: [],
  },
};

export function helpText(command) {
  const { usage, summary, options, environment: variables } = commands[command];
  return [
    `\n${usage}\n`,
    ...wrap(summary, 96).map((line) => `  ${line}`),
    '\nOptions',
    ...options.flatMap((row) => table(row)),
    ...table(['--help', 'this text']),
    ...(variables.length > 0 ? ['\nEnvironment', ...variables.flatMap((row) => table(row))] : []),
    '\nOther commands',
    ...Object.entries(commands)
      .filter(([name]) => name !== command)
      .map(([, other]) => `  ${other.usage.replace('[options]', '--help')}`),
    '',
    '',
  ].join('\n');
}

function table([name, text]) {
  return wrap(text, 70).map((line, index) => `  ${(index === 0 ? name : '').padEnd(26)}${line}`);
}

function wrap(text, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line !== '' && line.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
