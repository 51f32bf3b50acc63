import type { PaymentMaker } from './payment-maker.js';
import type { PaymentProvider } from './payment-provider.js';
import type { ConfiguredPlatform, Surroundings } from './platform.js';
import { type MakerSurroundings, makeCallPlatform } from './calls/platform-calls.js';
import { platforms, type PlatformName } from './platforms.js';
import type { PaymentVariableName } from './setting-reads.js';

/** The platforms that are set up. */
type ConfiguredPlatforms = ReadonlyMap<PlatformName, ConfiguredPlatform>;
export type PaymentProviders = ReadonlyMap<PlatformName, PaymentProvider>;
export type PaymentMakers = ReadonlyMap<PlatformName, PaymentMaker>;

const variables = [...platforms.values()].flatMap((platform) => Object.entries(platform.variables));
const named = variables.map(([name, kind]) => ({ name: name as PaymentVariableName, kind }));
/** The variables of all platforms, and those with a file variant (`<name>_FILE`). */
export const paymentVariableNames = named.map(({ name }) => name);
export const paymentSecretNames = named.filter(({ kind }) => kind === 'secret').map(({ name }) => name);

/**
 * Reads the payment variables (docs/configuration.md#payment-platforms). One variable of a platform requires its others, so that an
 * incomplete configuration is an error.
 * @returns the settings, and their problems: one sentence a variable, without values
 */
export function readPaymentSettings(read: (name: PaymentVariableName) => string | undefined): {
  readonly settings: ConfiguredPlatforms;
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const settings = mapped(platforms, (platform) => platform.configure(read, problems));
  return { settings, problems };
}

/** Returns the problems of the directories of keys, one sentence each. */
export function keyDirectoryProblems(settings: ConfiguredPlatforms): readonly string[] {
  return [...mapped(settings, (one) => one.keyProblem()).values()];
}

/** @throws KeyDirectoryProblem for an unusable directory of keys, see `keyDirectoryProblems` */
export function makePaymentProviders(
  settings: ConfiguredPlatforms,
  surroundings: Surroundings,
): PaymentProviders {
  return mapped(settings, (one) => one.open(surroundings));
}

/**
 * Makes the platforms that the service can ask for payments: those with credentials of their API.
 * @param urls other bases of addresses, for tests
 * @throws KeyDirectoryProblem for an unusable directory of keys
 */
export function makePaymentMakers(
  settings: ConfiguredPlatforms,
  input: Pick<MakerSurroundings, 'now'> &
    Surroundings & {
      readonly sleep: (ms: number) => Promise<void>;
      readonly urls?: Partial<Readonly<Record<PlatformName, string>>>;
    },
): PaymentMakers {
  const { http, sleep, urls = {}, ...surroundings } = input;
  return mapped(settings, (one, name) => {
    // Each platform has its own queue, so that one that hangs holds up no other.
    const call = makeCallPlatform({ http, sleep });
    const baseUrl = urls[name];
    return one.openMaker({ ...surroundings, call, ...(baseUrl === undefined ? {} : { baseUrl }) });
  });
}

/** Leaves out what is null. */
function mapped<One, Made>(
  all: ReadonlyMap<PlatformName, One>,
  make: (one: One, name: PlatformName) => Made | null,
): ReadonlyMap<PlatformName, Made> {
  return new Map(
    [...all].flatMap(([name, one]) => {
      const made = make(one, name);
      return made === null ? [] : [[name, made] as const];
    }),
  );
}
