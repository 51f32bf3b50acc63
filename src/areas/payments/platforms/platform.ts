import type { OutgoingHttp } from '../../../outgoing/outgoing-http.js';
import type { Money } from '../domain/fact.js';
import { KeyDirectoryProblem } from './keys/key-directory.js';
import type { PaymentMaker } from './payment-maker.js';
import type { Acknowledgement, PaymentProvider } from './payment-provider.js';
import type { MakerSurroundings } from './calls/platform-calls.js';
import { makeSettingReads, type PaymentVariableName, type SettingReads } from './setting-reads.js';

/** What a variable of a platform holds (docs/configuration.md#payment-platforms). A secret has a file variant (`<name>_FILE`). */
type PlatformVariable = 'open' | 'secret';

/** What verifies callbacks works with. `report` gets the problem of a directory of keys that has become unusable. */
export interface Surroundings {
  readonly http: OutgoingHttp;
  readonly report: (problem: string) => void;
}

type CallSurroundings = MakerSurroundings & Pick<Surroundings, 'report'>;

/** All that the service knows of a payment platform. `platforms.ts` lists the descriptors, and all else follows from the list. */
interface Descriptor<Name extends string, Variable extends PaymentVariableName, Settings, Client> {
  /** 1 to 16 letters a–z. */
  readonly name: Name;
  readonly settings: {
    readonly variables: Readonly<Record<Variable, PlatformVariable>>;
    /** The variable that names a directory of keys, which is read when the platform is opened. */
    readonly keys_directory?: Variable;
    /** Returns null where the platform is not configured, and where a setting has a problem. */
    readonly read: (reads: SettingReads<Variable>) => Settings | null;
  };
  readonly currencies: {
    /** That of an order without one. */
    readonly default: string;
    /** The platform takes no other currency. */
    readonly is_only?: true;
    /** Returns why the platform cannot charge the price, or null. */
    whyNot?(price: Money): string | null;
  };
  /** Its fields that may carry the number of an order, the usual one first. */
  readonly number_fields: readonly string[];
  readonly acknowledgement: Acknowledgement;
  readonly get?: PaymentProvider['get'];
  /** Whether the signature binds the body to the key of a callback. Where it does not, a stream of the key shows other content. */
  readonly binds_key?: false;
  /** Error code of all refusals, where the platform expects one. */
  readonly error_code?: 'FAIL';
  /** @throws KeyDirectoryProblem */
  verify(settings: NoInfer<Settings>, surroundings: Surroundings): PaymentProvider['verify'];
  /** Returns what asks the platform; null without its credentials. Absent: the service asks it for nothing. @throws KeyDirectoryProblem */
  client?(settings: NoInfer<Settings>, surroundings: CallSurroundings): Client | null;
  make?(client: NoInfer<Client>, settings: NoInfer<Settings>, now: () => Date): PaymentMaker;
  query?(
    client: NoInfer<Client>,
    settings: NoInfer<Settings>,
    now: () => Date,
  ): NonNullable<PaymentMaker['asks']>;
}

/** A platform whose settings are read. */
export interface ConfiguredPlatform {
  readonly settings: unknown;
  /** @throws KeyDirectoryProblem */
  open(surroundings: Surroundings): PaymentProvider;
  /** Returns null where the service makes no payment at the platform. @throws KeyDirectoryProblem */
  openMaker(surroundings: CallSurroundings): PaymentMaker | null;
  /** Returns the problem of the directory of keys, as a sentence. */
  keyProblem(): string | null;
}

/** A descriptor without the types of its settings. */
export interface PaymentPlatform<Name extends string = string> extends Pick<
  Descriptor<Name, never, never, never>,
  'name' | 'currencies' | 'number_fields' | 'acknowledgement' | 'get' | 'binds_key' | 'error_code'
> {
  readonly variables: Readonly<Record<PaymentVariableName, PlatformVariable>>;
  /** Adds the problems: one sentence a variable, without values. */
  configure(
    read: (name: PaymentVariableName) => string | undefined,
    problems: string[],
  ): ConfiguredPlatform | null;
}

export function definePlatform<
  const Name extends string,
  Variable extends PaymentVariableName,
  Settings,
  Client,
>({
  settings: { variables, keys_directory, read: readSettings },
  ...platform
}: Descriptor<Name, Variable, Settings, Client>): PaymentPlatform<Name> {
  return { ...platform, variables, configure };

  function configure(
    read: (name: PaymentVariableName) => string | undefined,
    problems: string[],
  ): ConfiguredPlatform | null {
    const names = Object.keys(variables) as PaymentVariableName[];
    const settings = readSettings(makeSettingReads(read, problems, names));
    if (settings === null) return null;
    const { acknowledgement, get } = platform;
    const open = (surroundings: Surroundings): PaymentProvider => ({
      acknowledgement,
      ...(get === undefined ? {} : { get }),
      verify: platform.verify(settings, surroundings),
    });
    return {
      settings,
      open,
      openMaker: (surroundings) => {
        const client = platform.client?.(settings, surroundings) ?? null;
        if (client === null || platform.make === undefined) return null;
        const { now } = surroundings;
        const asks = platform.query?.(client, settings, now);
        return { ...platform.make(client, settings, now), ...(asks === undefined ? {} : { asks }) };
      },
      keyProblem: () => {
        if (keys_directory === undefined) return null;
        try {
          open({ http: () => Promise.reject(new Error('no call is made')), report: () => undefined });
          return null;
        } catch (error) {
          if (!(error instanceof KeyDirectoryProblem)) throw error;
          return `${keys_directory}: ${error.message}`;
        }
      },
    };
  }
}
