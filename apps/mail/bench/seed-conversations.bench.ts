import { seedConversations, type SeedOptions } from './seed-conversations';

/** `seed-conversations.bench DATABASE_URL OPTIONS` fills a migrated mail database and prints the ids as JSON. */
async function main([url, options]: string[]): Promise<void> {
  if (url === undefined || options === undefined) {
    throw new Error('usage: seed-conversations.bench DATABASE_URL OPTIONS');
  }
  const seed = await seedConversations(url, JSON.parse(options) as SeedOptions);
  process.stdout.write(`${JSON.stringify(seed)}\n`);
}

void main(process.argv.slice(2));
