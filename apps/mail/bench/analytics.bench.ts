import { measureAnalytics } from './measure-analytics';

/** `analytics.bench DATABASE_URL [CONVERSATIONS [DAYS [BATCH]]]`: events into the read model and questions to it, as JSON. */
async function main([databaseUrl, conversations = '20000', days = '60', batch = '500']: string[]) {
  if (databaseUrl === undefined) {
    throw new Error('usage: analytics.bench DATABASE_URL [CONVERSATIONS [DAYS [BATCH]]]');
  }
  const load = { conversations: Number(conversations), days: Number(days), batch: Number(batch) };
  const figures = await measureAnalytics(databaseUrl, load);
  process.stdout.write(`${JSON.stringify({ ...load, ...figures })}\n`);
}

void main(process.argv.slice(2));
