import { describeCrashes } from './describe-crashes';

describe('the log in PostgreSQL under fire', () => {
  describeCrashes(null);
});
