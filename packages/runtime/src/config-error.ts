/** One bad variable: its name, what is wrong, and a value that would do. Never a secret's value. */
export interface ConfigFault {
  readonly name: string;
  readonly fault: string;
  readonly example?: string;
}

/** The environment is not usable. Lists every fault at once, so that it is put right in one go. */
export class ConfigError extends Error {
  readonly code = 'LAPSE_CONFIG_INVALID';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    const lines = faults.map(
      ({ name, fault, example }) =>
        `  ${name} ${fault}${example === undefined ? '' : `. Example: ${example}`}`,
    );
    super(
      `${faults.length === 1 ? 'A setting is' : `${faults.length} settings are`} not usable:\n${lines.join('\n')}`,
    );
    this.name = 'ConfigError';
    this.faults = faults;
  }
}
