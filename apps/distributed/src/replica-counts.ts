import { InvalidError } from '@dak/kernel';
import { SERVICES, type ServiceName } from '@dak/platform/config';

export type ReplicaCounts = Readonly<Record<ServiceName, number>>;

const FLAG = '--replicas';
const MOST = 16;

/**
 * How many processes of each service the command line asks for; one of those it does not name.
 * @param args what follows the program, such as `--replicas mail=2,webhook=2`
 * @throws InvalidError for anything else
 */
export function replicaCounts(args: readonly string[]): ReplicaCounts {
  const counts = Object.fromEntries(SERVICES.map((name) => [name, 1])) as Record<
    ServiceName,
    number
  >;
  for (const item of requested(args)) {
    const [name, count] = item.split('=');
    const service = SERVICES.find((known) => known === name);
    const number = /^\d{1,2}$/.test(count ?? '') ? Number(count) : 0;
    if (service === undefined || number < 1 || number > MOST) throw misused(item);
    counts[service] = number;
  }
  return counts;
}

function requested(args: readonly string[]): string[] {
  const [flag, value, ...rest] = args.flatMap((arg) => arg.split(/(?<=^--replicas)=/));
  if (flag === undefined) return [];
  if (flag !== FLAG) throw misused(flag);
  if (value === undefined || rest.length > 0) throw misused(args.join(' '));
  return value.split(',');
}

function misused(text: string): InvalidError {
  return new InvalidError(
    `“${text}” is not understood. Usage: npm run start:distributed -- --replicas mail=2,webhook=2, from 1 to ${MOST} of ${SERVICES.join(', ')}.`,
    'bad_arguments',
  );
}
