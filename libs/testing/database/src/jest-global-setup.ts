/** Names the run, so that every worker registers the servers it uses for the run as a whole. */
export default function nameTestRun(): void {
  process.env['DAK_TEST_RUN_PID'] = String(process.pid);
}
