import { attachments } from './attachments';
import { composed } from './composed';
import { conversations } from './conversations';
import { discovery } from './discovery';
import { domains } from './domains';
import { mailboxes } from './mailboxes';
import type { Noun } from './noun';
import { organizations } from './organizations';
import { people } from './people';
import { rules } from './rules';
import { sessions } from './sessions';
import { templates } from './templates';
import { webhooks } from './webhooks';

/** Nouns that need a word beside the route table. */
export const NOUNS: readonly Noun[] = [
  attachments,
  composed,
  conversations,
  discovery,
  domains,
  mailboxes,
  organizations,
  people,
  rules,
  sessions,
  templates,
  webhooks,
];
