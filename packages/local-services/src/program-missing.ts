import { LocalServiceError } from './local-service-error.ts';

export type ProgramName = 'mariadb' | 'redis' | 'java' | 'maven' | 'chromium';
type PackageManager = 'apt' | 'dnf' | 'brew';

const packages: Record<PackageManager, Record<ProgramName, string>> = {
  apt: {
    mariadb: 'mariadb-server',
    redis: 'redis-server',
    java: 'openjdk-17-jre-headless',
    maven: 'maven',
    chromium: 'chromium',
  },
  dnf: {
    mariadb: 'mariadb-server',
    redis: 'redis',
    java: 'java-17-openjdk-headless',
    maven: 'maven',
    chromium: 'chromium',
  },
  brew: {
    mariadb: 'mariadb',
    redis: 'redis',
    java: 'openjdk@17',
    maven: 'maven',
    chromium: '--cask google-chrome',
  },
};

/** Debian and Ubuntu package names of the programs. */
export function aptPackages(programs: readonly ProgramName[]): string[] {
  return programs.map((program) => packages.apt[program]);
}

/** The exact commands that install the programs, one line a system, for a person to choose from. */
export function installCommands(programs: readonly ProgramName[]): readonly string[] {
  const names = (manager: PackageManager) => programs.map((program) => packages[manager][program]).join(' ');
  return [
    `Debian, Ubuntu:  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${names('apt')}`,
    `Fedora, RHEL:    sudo dnf install -y ${names('dnf')}`,
    `macOS:           brew install ${names('brew')}`,
  ];
}

/** The error for a program that is needed now, with how to get it. */
export function programMissing(...programs: ProgramName[]): LocalServiceError {
  return new LocalServiceError(
    'LAPSE_PROGRAM_MISSING',
    `not found on this machine: ${programs.join(', ')}. To install:\n${installCommands(programs)
      .map((line) => `  ${line}`)
      .join('\n')}`,
  );
}
