/**
 * Who may import whom. contracts <- runtime <- features <- joins <- apps; the features never see each
 * other, and each store's client has one home. `npm test` proves that every source file was
 * seen, and a negative control (infra/stack/test) proves that a forbidden import is caught.
 */
const features = 'order-repository|stock|messaging|notifications|payments|order-flow|rate-limits|sale-player';
const joins = 'operations|stock-audit';
const tools = 'testing|test-shop|local-services|seed-worker';

/** One library, and the only folders whose sources may import it. The bench runs others' way beside ours. */
const homeOf = (name, library, homes) => ({
  name,
  severity: 'error',
  comment: `${library} is used in ${homes.join(' and ')} alone, so that it can be replaced there.`,
  from: { path: '^(apps|packages|infra)/', pathNot: `^(${homes.join('|')})/` },
  to: { path: `(^|/)node_modules/(${library})/` },
});

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Two files that import each other are one file, or lack a third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'Nothing imports it and it imports nothing: dead.',
      from: { orphan: true, path: '^(apps|packages|infra)/[^/]+/src/', pathNot: '/src/(main|index)\\.ts$' },
      to: {},
    },
    {
      name: 'apps-apart',
      severity: 'error',
      comment: 'Apps are deployed on their own; what two of them share is a package.',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'packages-below-apps',
      severity: 'error',
      comment: 'A package knows nothing of the apps or of infra.',
      from: { path: '^packages/' },
      to: { path: '^(apps|infra)/' },
    },
    {
      name: 'apps-not-to-infra',
      severity: 'error',
      comment: 'An app runs without the scripts that start it here.',
      from: { path: '^apps/' },
      to: { path: '^infra/' },
    },
    {
      name: 'apps-not-imported',
      severity: 'error',
      comment:
        'An app is started, not imported. The simulation alone imports what its decisions.ts exports: it proves the ' +
        'real decisions, and a copy of them would prove nothing.',
      from: { path: '^infra/', pathNot: '^infra/simulation/' },
      to: { path: '^apps/' },
    },
    {
      name: 'simulation-sees-decisions',
      severity: 'error',
      comment: 'Wiring, HTTP and process start-up of an app are not for the simulation.',
      from: { path: '^infra/simulation/' },
      to: { path: '^apps/', pathNot: '^apps/[^/]+/src/decisions\\.ts$' },
    },
    {
      name: 'contracts-at-the-bottom',
      severity: 'error',
      comment: 'contracts depends on zod alone.',
      from: { path: '^packages/contracts/src/' },
      to: { pathNot: ['^packages/contracts/src/', '(^|/)node_modules/zod/'] },
    },
    {
      name: 'runtime-above-contracts',
      severity: 'error',
      comment: 'runtime knows no feature.',
      from: { path: '^packages/runtime/src/' },
      to: { path: '^packages/', pathNot: '^packages/(runtime|contracts)/' },
    },
    {
      name: 'features-apart',
      severity: 'error',
      comment: 'The features never import each other; an app joins them.',
      from: { path: `^packages/(${features})/src/` },
      to: { path: '^packages/', pathNot: '^packages/($1|contracts|runtime)/' },
    },
    {
      name: 'joins-above-features',
      severity: 'error',
      comment:
        'What two doors or two processes do alike with several features is joined once; no join knows another.',
      from: { path: `^packages/(${joins})/src/` },
      to: { path: '^packages/', pathNot: `^packages/($1|${features}|contracts|runtime)/` },
    },
    {
      name: 'tools-know-no-product',
      severity: 'error',
      comment: 'The oracle judges the stores, not through the code that it judges.',
      // test-shop is the one tool that is made of the product: a shop for the workers' tests.
      from: { path: `^packages/(${tools})/src/`, pathNot: '^packages/test-shop/' },
      to: { path: '^packages/', pathNot: `^packages/(${tools}|contracts)/` },
    },
    {
      name: 'no-tools-in-product',
      severity: 'error',
      comment: 'Test kit and local services are for tests, demo, bench and stack.',
      from: { path: '^(apps|packages)/[^/]+/src/', pathNot: `^(packages/(${tools})|apps/(demo|bench))/` },
      to: { path: `^packages/(${tools})/` },
    },
    {
      name: 'no-tests-in-sources',
      severity: 'error',
      comment: 'Sources never import tests.',
      from: { path: '^(apps|packages|infra)/[^/]+/src/' },
      to: { path: '^(apps|packages|infra)/[^/]+/test/' },
    },
    {
      name: 'no-dev-dependency-in-sources',
      severity: 'error',
      comment: 'What a source imports must be there in production.',
      from: { path: '^(apps|packages|infra)/[^/]+/src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      comment: 'A package lists what it imports.',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'not-unresolvable',
      severity: 'error',
      comment: 'Found nowhere.',
      from: {},
      to: { couldNotResolve: true },
    },
    homeOf('sql-in-order-repository', 'knex|mysql2', [
      ...['packages/order-repository', 'packages/testing', 'packages/seed-worker', 'apps/bench'],
    ]),
    // The limits count over a connection of their own, so that no count stands before a reserve.
    homeOf('redis-in-stock', 'ioredis', [
      ...['packages/stock', 'packages/rate-limits', 'packages/testing', 'packages/seed-worker', 'apps/bench'],
    ]),
    homeOf('traces-in-runtime', '@opentelemetry/[^/]+', ['packages/runtime']),
    homeOf('stripe-in-payments', 'stripe', ['packages/payments']),
    homeOf('broker-in-messaging', 'rocketmq-client-nodejs|@grpc/[^/]+', [
      ...['packages/messaging', 'packages/seed-worker'],
    ]),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Anchored: an unanchored "dist" also hides the modules that packages resolve to.
    exclude: { path: '^(apps|packages|infra)/[^/]+/(dist|test-results)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@lapse/source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
    combinedDependencies: false,
  },
};
