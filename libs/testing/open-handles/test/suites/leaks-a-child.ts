import { spawn } from 'node:child_process';

it('passes', () => {
  spawn('sleep', ['9'], { stdio: 'ignore' });
});
