import { DomainError } from '@dak/kernel';

export function deadlineExceeded(): DomainError {
  return new DomainError(
    'deadline_exceeded',
    'deadline_exceeded',
    'The request took longer than its deadline. Try again, or ask for less at once.',
    { retryAfterSeconds: 1 },
  );
}

/**
 * Settles with `work`, or rejects once the deadline passes or the caller goes away. The work itself
 * is notified by its own signal and may still finish.
 */
export function withinDeadline<T>(work: Promise<T>, deadline: number, now: number): Promise<T> {
  const left = deadline - now;
  if (left <= 0) return Promise.reject(deadlineExceeded());
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(deadlineExceeded()), left);
    work.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
