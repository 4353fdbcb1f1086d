import { VersionMismatchError } from '@dak/kernel';

/** @throws VersionMismatchError unless `ifMatch` is null or the current version */
export function requireVersion(what: string, current: number, ifMatch: number | null): void {
  if (ifMatch !== null && ifMatch !== current) throw new VersionMismatchError(what, current);
}
