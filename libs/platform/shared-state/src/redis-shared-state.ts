import { createClient } from 'redis';
import { UnavailableError } from '@dak/kernel';
import {
  ACQUIRE_LEASE,
  EXTEND_LEASE,
  RELEASE_LEASE,
  TAKE_TOKENS,
  type RedisScript,
} from './redis-scripts';
import { AnswerLimit, NoAnswerError } from './answer-limit';
import type { Consumption, SharedState } from './shared-state';

export interface RedisSharedStateOptions {
  /** `redis://[user:password@]host:port[/db]` or `rediss://`. */
  url: string;
  /** Before every key and channel, so that deployments can share one Redis. */
  keyPrefix: string;
  /** A command unanswered for this long fails; so does a start without connection. @default 2000 */
  commandTimeoutMs?: number;
}

const FIRST_ATTEMPTS = 5;
/** After a command that got no answer, the next ones fail at once for so long: a request has several. */
const SILENCE_MS = 1_000;

type Client = ReturnType<typeof newClient>;

/** Over one Redis. Without a connection every command fails at once with `unavailable`. */
export class RedisSharedState implements SharedState {
  readonly #commands: Client;
  readonly #prefix: string;
  readonly #limit: AnswerLimit;
  readonly #url: string;
  #subscriber: Promise<Client> | null = null;
  #closed = false;
  #silentUntil = 0;

  private constructor(options: RedisSharedStateOptions) {
    this.#prefix = options.keyPrefix;
    this.#limit = new AnswerLimit(options.commandTimeoutMs ?? 2_000);
    this.#url = options.url;
    this.#commands = newClient(options.url);
  }

  /** @throws UnavailableError when Redis does not answer within the command timeout. */
  static async connect(options: RedisSharedStateOptions): Promise<RedisSharedState> {
    const state = new RedisSharedState(options);
    await connectWithin(state.#commands, state.#limit);
    return state;
  }

  async get(key: string): Promise<string | null> {
    return this.#run(() => this.#commands.get(this.#value(key)));
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    await this.#run(() =>
      this.#commands.set(this.#value(key), value, { expiration: milliseconds(ttlMs) }),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#run(() => this.#commands.del(this.#value(key)));
  }

  async setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean> {
    const reply = await this.#run(() =>
      this.#commands.set(this.#value(key), value, {
        condition: 'NX',
        expiration: milliseconds(ttlMs),
      }),
    );
    return reply !== null;
  }

  async consume(key: string, limit: number, windowMs: number, cost = 1): Promise<Consumption> {
    const reply = await this.#script(TAKE_TOKENS, `${this.#prefix}bucket:${key}`, [
      String(limit),
      String(windowMs),
      String(cost),
    ]);
    const [allowed, remaining, resetMs, retryAfterMs] = reply as number[];
    return {
      allowed: allowed === 1,
      remaining: remaining!,
      resetMs: resetMs!,
      retryAfterMs: retryAfterMs!,
    };
  }

  async acquire(lease: string, token: string, ttlMs: number): Promise<boolean> {
    return (await this.#script(ACQUIRE_LEASE, this.#lease(lease), [token, whole(ttlMs)])) === 1;
  }

  async extend(lease: string, token: string, ttlMs: number): Promise<boolean> {
    return (await this.#script(EXTEND_LEASE, this.#lease(lease), [token, whole(ttlMs)])) === 1;
  }

  async release(lease: string, token: string): Promise<boolean> {
    return (await this.#script(RELEASE_LEASE, this.#lease(lease), [token])) === 1;
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#run(() => this.#commands.publish(this.#prefix + channel, message));
  }

  async subscribe(
    channel: string,
    listener: (message: string) => void,
  ): Promise<() => Promise<void>> {
    const subscriber = await this.#run(() => this.#connectedSubscriber());
    const own = (message: string): void => listener(message);
    await this.#run(() => subscriber.subscribe(this.#prefix + channel, own));
    return async () => {
      if (subscriber.isOpen) await subscriber.unsubscribe(this.#prefix + channel, own);
    };
  }

  async ping(): Promise<void> {
    await this.#run(() => this.#commands.ping());
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#limit.close();
    const subscriber = await this.#subscriber?.catch(() => undefined);
    for (const client of [subscriber, this.#commands]) if (client?.isOpen) client.destroy();
  }

  /** A connection that subscribes cannot carry commands (RESP2), so there is a second one on demand. */
  #connectedSubscriber(): Promise<Client> {
    this.#subscriber ??= (async () => {
      const client = newClient(this.#url);
      await connectWithin(client, this.#limit);
      return client;
    })().catch((error: unknown) => {
      this.#subscriber = null;
      throw error;
    });
    return this.#subscriber;
  }

  async #script(script: RedisScript, key: string, values: string[]): Promise<unknown> {
    const options = { keys: [key], arguments: values };
    return this.#run(async () => {
      try {
        return await this.#commands.evalSha(script.sha1, options);
      } catch (error) {
        // Redis forgets its scripts on restart and failover.
        if (error instanceof Error && error.message.startsWith('NOSCRIPT')) {
          return this.#commands.eval(script.text, options);
        }
        throw error;
      }
    });
  }

  /** Every failure of the store is `unavailable`, and a silent connection is one too. */
  async #run<T>(command: () => Promise<T>): Promise<T> {
    if (performance.now() < this.#silentUntil) throw unreachable(new NoAnswerError());
    try {
      return await this.#limit.put(command());
    } catch (cause) {
      if (cause instanceof NoAnswerError) this.#silentUntil = performance.now() + SILENCE_MS;
      throw unreachable(cause);
    }
  }

  #value(key: string): string {
    return `${this.#prefix}value:${key}`;
  }

  #lease(lease: string): string {
    return `${this.#prefix}lease:${lease}`;
  }
}

function newClient(url: string) {
  let connected = false;
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // An AbortSignal with a timer for each command, beside the limit of every answer that we have ourselves.
    commandOptions: { timeout: undefined },
    // A half-open connection is noticed by its silence: pings keep a living one from being idle.
    pingInterval: 3_000,
    socket: {
      connectTimeout: 2_000,
      socketTimeout: 8_000,
      // A first connection is given up after about a second, a lost one never.
      reconnectStrategy: (retries) => {
        if (!connected && retries >= FIRST_ATTEMPTS) return false;
        return Math.min(2 ** retries * 25, 2_000) * (0.75 + Math.random() / 2);
      },
    },
  });
  // Reconnecting is the client's own work; callers learn of the outage from their commands.
  client.on('error', () => undefined);
  client.on('ready', () => {
    connected = true;
  });
  return client;
}

async function connectWithin(client: Client, limit: AnswerLimit): Promise<void> {
  try {
    await limit.put(client.connect());
  } catch (cause) {
    if (client.isOpen) client.destroy();
    throw unreachable(cause);
  }
}

function unreachable(cause: unknown): UnavailableError {
  return new UnavailableError('The shared state (Redis) cannot be reached; try again.', 1, cause);
}

function milliseconds(ttlMs: number): { type: 'PX'; value: number } {
  return { type: 'PX', value: Math.max(1, Math.ceil(ttlMs)) };
}

function whole(ttlMs: number): string {
  return String(Math.max(1, Math.ceil(ttlMs)));
}
