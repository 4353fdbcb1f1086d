import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { DomainError } from '@dak/kernel';
import { checkPair, type PemPair } from './pem-pair';

export interface PemPaths {
  readonly cert: string;
  readonly key: string;
}

export interface TlsFilesLog {
  info(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface TlsFilesOptions {
  readonly paths: PemPaths;
  readonly log: TlsFilesLog;
  /** Called with every pair that replaces another one. */
  readonly onChange: (pair: PemPair) => void;
  /** Milliseconds between checks of the files. @default 2000 */
  readonly pollMs?: number;
}

export interface TlsFiles {
  /** The newest pair that was whole. */
  readonly pair: PemPair;
  stop(): void;
}

/**
 * The two files that a pair of variables such as `DAK_HTTPS_CERT` and `DAK_HTTPS_KEY` names.
 * @param prefix of the names of both variables
 * @returns null when neither is set
 * @throws DomainError invalid when only one is set
 */
export function pemPaths(
  prefix: string,
  cert: string | undefined,
  key: string | undefined,
): PemPaths | null {
  if (cert === undefined && key === undefined) return null;
  if (cert !== undefined && key !== undefined) return { cert, key };
  throw badConfiguration(`${prefix}_CERT and ${prefix}_KEY belong together: set both or neither.`);
}

/**
 * Reads a certificate and its key and reads them again when they change. The content is compared,
 * not the time of the change: this sees a file written in place, one moved over the other and a
 * symbolic link turned elsewhere alike, and costs two small reads. A pair that does not fit, such as
 * one half written, changes nothing until it does; one that still does not fit at the second look is logged.
 * @throws DomainError invalid when the pair cannot be used at the start
 */
export function watchTlsFiles(options: TlsFilesOptions): TlsFiles {
  const { paths, log, onChange, pollMs = 2_000 } = options;
  let current = readAtStart(paths);
  let refused: { pair: PemPair; looks: number } | null = null;
  let unreadableLooks = 0;
  let isLooking = false;

  const take = (next: PemPair): void => {
    unreadableLooks = 0;
    if (same(next, current)) {
      refused = null;
      return;
    }
    try {
      checkPair(next);
    } catch (error) {
      const looks: number = refused !== null && same(next, refused.pair) ? refused.looks + 1 : 1;
      refused = { pair: next, looks };
      if (looks === 2) {
        log.error(
          { err: error, ...paths },
          'the new TLS certificate is not usable, the old one stays',
        );
      }
      return;
    }
    refused = null;
    current = next;
    onChange(next);
    log.info({ ...paths }, 'TLS certificate read again');
  };

  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const [cert, key] = await Promise.all([
        readFile(paths.cert, 'utf8'),
        readFile(paths.key, 'utf8'),
      ]);
      take({ cert, key });
    } catch (error) {
      unreadableLooks += 1;
      if (unreadableLooks === 2) {
        log.error({ err: error, ...paths }, 'TLS certificate not readable, the old one stays');
      }
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), pollMs);
  timer.unref();

  return {
    get pair() {
      return current;
    },
    stop: () => clearInterval(timer),
  };
}

function readAtStart(paths: PemPaths): PemPair {
  try {
    const pair = {
      cert: readFileSync(paths.cert, 'utf8'),
      key: readFileSync(paths.key, 'utf8'),
    };
    checkPair(pair);
    return pair;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badConfiguration(
      `The TLS certificate ${paths.cert} with the key ${paths.key} cannot be used: ${reason}.`,
    );
  }
}

function same(a: PemPair, b: PemPair): boolean {
  return a.cert === b.cert && a.key === b.key;
}

function badConfiguration(sentence: string): DomainError {
  return new DomainError('invalid', 'bad_configuration', sentence);
}
