/** A run that is over and whose process does not end within `graceMs` fails, and shows what keeps it alive. */
export function failHangingRun(graceMs = 10_000): void {
  setTimeout(() => {
    const kinds = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(
      `\nThe tests are over and the process does not end. Open: ${kinds} (worker threads are not shown).\n`,
    );
    process.exit(1);
  }, graceMs).unref();
}
