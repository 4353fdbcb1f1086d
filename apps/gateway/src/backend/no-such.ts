import { InvalidError } from '@dak/kernel';

export function noSuch(
  { field }: { readonly field: string },
  kind: string,
  list: string,
): InvalidError {
  return new InvalidError(
    `${field} is not a ${kind} of this organization: GET ${list} lists them.`,
  );
}
