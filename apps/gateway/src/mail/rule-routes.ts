import { z } from 'zod';
import {
  CreateRule,
  RuleDryRunRecord,
  RuleRecord,
  RuleRunRecord,
  RuleTestRecord,
  RuleVersionRecord,
  StartRuleDryRun,
  TestRule,
  UpdateRule,
} from '@dak/contracts/api';
import { sentFields } from '@dak/contracts/requests';
import { defineRoute, idParams, pageFields, pageOf, queryBoolean, type Route } from '../http';
import { documentReply } from '../http/document-reply';
import { servicePage } from '../http/service-page';
import type { MailClients } from './mail-clients';
import { toRuleDefinition, type Caller, type RuleTargets } from './rule-targets';

const common = { tag: 'rules' } as const;

const rule = RuleRecord.meta({ id: 'Rule' });
const run = RuleRunRecord.meta({ id: 'RuleRun' });
const dryRun = RuleDryRunRecord.meta({ id: 'RuleDryRun' });
const runQuery = z.object({
  ...pageFields,
  matched: queryBoolean()
    .optional()
    .meta({ description: 'Only runs that matched, or only runs that did not.' }),
});

export function ruleRoutes({ rules }: Pick<MailClients, 'rules'>, parts: RuleTargets): Route[] {
  const subjectOf = async (
    { principal, call }: Caller,
    body: { rule?: CreateRule | undefined; rule_id?: string | undefined },
  ) =>
    body.rule === undefined
      ? ({ $case: 'ruleId', value: body.rule_id ?? '' } as const)
      : ({
          $case: 'rule',
          value: await toRuleDefinition(parts, { principal, call }, body.rule, 'rule.'),
        } as const);

  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/rules',
      summary: 'List rules',
      description: 'In the order in which they run. Regular users see only their own.',
      request: { query: z.object(pageFields) },
      responses: { 200: { description: 'A page of rules', schema: pageOf(rule) } },
      handler: (context) => servicePage(context, (page) => rules.listRules({ page }, context.call)),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/rules',
      summary: 'Create a rule',
      description:
        'Runs on all mail that arrives from now on, in order of priority, and acts on behalf of the user who created it.',
      request: { body: CreateRule },
      responses: { 201: { description: 'The rule', schema: rule } },
      handler: async ({ body, principal, call }) => {
        const definition = await toRuleDefinition(parts, { principal, call }, body);
        return documentReply(201, await rules.createRule({ rule: definition }, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/rules/{id}',
      summary: 'Get a rule',
      request: { params: idParams },
      responses: { 200: { description: 'The rule', schema: rule } },
      handler: async ({ params, call }) =>
        documentReply(200, await rules.getRule({ id: params.id }, call)),
    }),
    defineRoute({
      ...common,
      method: 'PATCH',
      path: '/rules/{id}',
      summary: 'Update a rule',
      description: 'Mail that arrives after the response is handled by the new version.',
      versioned: true,
      request: { params: idParams, body: UpdateRule },
      responses: { 200: { description: 'The rule', schema: rule } },
      handler: async ({ params, body, principal, ifMatch, call }) => {
        const definition = await toRuleDefinition(parts, { principal, call }, body);
        const request = {
          id: params.id,
          expectedVersion: ifMatch ?? undefined,
          fields: sentFields(UpdateRule.shape, body),
          rule: definition,
        };
        return documentReply(200, await rules.updateRule(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'DELETE',
      path: '/rules/{id}',
      summary: 'Delete a rule',
      description:
        'What the rule has done remains, and its runs stay listed with their conversations.',
      versioned: true,
      request: { params: idParams },
      responses: { 204: { description: 'Deleted' } },
      handler: async ({ params, ifMatch, call }) => {
        await rules.deleteRule({ id: params.id, expectedVersion: ifMatch ?? undefined }, call);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/rules/{id}/versions',
      summary: 'List rule versions, newest first',
      request: { params: idParams, query: z.object(pageFields) },
      responses: {
        200: {
          description: 'A page of versions',
          schema: pageOf(RuleVersionRecord.meta({ id: 'RuleVersion' })),
        },
      },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          rules.listRuleVersions({ ruleId: params.id, page }, call),
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/rules/{id}/runs',
      summary: 'List the runs of a rule, newest first',
      description:
        'Lists only runs in conversations you may read. Matching runs are kept for 90 days, others for 14.',
      request: { params: idParams, query: runQuery },
      responses: { 200: { description: 'A page of runs', schema: pageOf(run) } },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          rules.listRuleRuns({ ruleId: params.id, page, matched: query.matched }, call),
        ),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/conversations/{id}/rule-runs',
      summary: 'List rule runs of a conversation, newest first',
      request: { params: idParams, query: runQuery },
      responses: { 200: { description: 'A page of runs', schema: pageOf(run) } },
      handler: ({ params, query, call, url }) =>
        servicePage({ query, url }, (page) =>
          rules.listConversationRuleRuns(
            { conversationId: params.id, page, matched: query.matched },
            call,
          ),
        ),
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/rules/test',
      summary: 'Test a rule against a message',
      description:
        'Reports which conditions hold and which actions would run. No action is carried out.',
      rateClass: 'read',
      idempotency: 'none',
      request: { body: TestRule },
      responses: {
        200: { description: 'The verdicts', schema: RuleTestRecord.meta({ id: 'RuleTest' }) },
      },
      handler: async ({ body, principal, call }) => {
        const subject = await subjectOf({ principal, call }, body);
        const request = { subject, messageId: body.message_id };
        return documentReply(200, await rules.testRule(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: '/rules/dry-run',
      summary: 'Dry-run a rule on past mail',
      description:
        'Runs in the background over the mail you can see now; poll GET /rules/dry-run/{id} for progress and result. No action is carried out.',
      request: { body: StartRuleDryRun },
      responses: { 202: { description: 'The dry run and its progress', schema: dryRun } },
      handler: async ({ body, principal, call }) => {
        const subject = await subjectOf({ principal, call }, body);
        const request = { subject, from: body.from, to: body.to };
        return documentReply(202, await rules.startRuleDryRun(request, call));
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/rules/dry-run/{id}',
      summary: 'Get a dry run',
      description: 'Omits samples from conversations you may no longer read.',
      request: { params: idParams },
      responses: { 200: { description: 'Progress and result', schema: dryRun } },
      handler: async ({ params, call }) =>
        documentReply(200, await rules.getRuleDryRun({ id: params.id }, call)),
    }),
  ];
}
