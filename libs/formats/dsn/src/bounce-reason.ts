import type { BounceReason, DeliveryAction } from './delivery-status';

/** What is known of one failed attempt when its cause is looked for. */
export interface BounceEvidence {
  /** The diagnostic, or the words of the report where it has none. */
  text: string;
  /** The rest of the report, searched only for the phase in which the server refused. */
  context?: string;
  status: string | null;
  smtpCode: number | null;
  action: DeliveryAction;
}

/**
 * Phrases that servers use and their meaning, most specific first; the first match wins. Causes on the sender's side
 * (authentication, reputation, policy) stand before "user unknown", because servers wrap them in recipient words
 * ("Recipient address rejected: Access denied") and taking them for a bad address would suppress a good one.
 */
const RULES: readonly (readonly [BounceReason, RegExp])[] = [
  ['hostunknown', /account or domain may not exist/i],
  // Exchange Online's directory-based blocking words an unknown recipient like this.
  ['userunknown', /5\.4\.1\b.{0,20}recipient address rejected: access denied/i],
  ['expired', /in the queue too long|not be delivered for too long/i],
  ['mailererror', /^x-unix;|command output:|(?:unknown )?mailer error|procmail:|maildrop:/i],
  ['virusdetected', /\b(?:virus|malware|infected|trojan|worm)\b|mcspamsignature|clamav/i],
  [
    'authfailure',
    /\bdmarc\b|\b(?:spf|dkim)\b.{0,80}(?:fail|not pass|did not|reject|invalid|unaligned|none)|(?:fail|reject|violat|not pass|hard fail).{0,80}\b(?:spf|dkim)\b|sender is unauthenticated|unauthenticated email|sender policy framework|authentication (?:checks?|requirements?)/is,
  ],
  [
    'requireptr',
    /\b(?:ptr|rdns|reverse[ -]dns|reverse (?:host|lookup|address|mapping)|(?:no|missing) reverse)\b|cannot find your (?:reverse )?host ?name|unverif[iy]able sending ip|mismatches client ip|fcrdns|unresolvable (?:relay|client) host|cannot resolve your address|client host name not found/i,
  ],
  [
    'notcompliantrfc',
    /rfc ?\d{3,4}[ -]?(?:non)?.?compliant|not .{0,12}rfc ?\d{3,4}|(?:duplicate|multiple) (?:header|from|subject|addresses in)|multiple addresses in from|bare (?:lf|cr|linefeed)|missing (?:the )?(?:message-id|date|from|valid from) header|headers? not compliant/i,
  ],
  [
    'failedstarttls',
    /starttls.{0,60}(?:fail|required|must)|must issue a starttls|tls (?:is )?required|tls.{0,30}handshake|certificate verif/i,
  ],
  [
    'hasmoved',
    /has moved|no longer on server|user not local|not our (?:user|customer)|moved to (?:an|a new)|address (?:has )?changed|has been replaced by|recipient has moved/i,
  ],
  [
    'suspend',
    /(?:account|mailbox|user|recipient|address|domain).{0,60}(?:disabled|suspended|inactive|deactivated|locked|frozen|discontinued|blocked by admin|not active|terminated|has been closed)|(?:disabled|suspended|inactive|deactivated|locked|frozen|discontinued) .{0,20}(?:account|mailbox|user|recipient|address)|temporary locked|invalid\/inactive|out of service|not.accepting mail at this time.{0,20}suspend/i,
  ],
  [
    'mailboxfull',
    /(?:mailbox|inbox|mbox|user'?s? (?:disk|mail)?).{0,40}\b(?:full|exceed\w*|over ?quota|overdrawn)\b|\bover (?:the )?(?:quota|storage|limit|allocated)|quota.{0,30}(?:exceed|full|reached|violat)|exceed\w*.{0,60}(?:quota|allocated|storage|disk|allowed size|mailbox)|insufficient (?:disk|storage|system storage)|out of (?:disk|storage) (?:space|quota)|not enough (?:storage|space|disk)|disk quota|no space left for|storage (?:quota|limit)|voll\b.{0,20}postfach|mailfolder is full|too many messages (?:in|on)|is full\b/is,
  ],
  [
    'systemfull',
    /(?:mail ?system|file ?system|server|spool|disk).{0,20}(?:full|no space)|no space left on device|insufficient (?:spool|queue)/i,
  ],
  [
    'exceedlimit',
    /recipsizelimit|(?:too large|size).{0,30}(?:for this recipient|for (?:the )?recipient)|message (?:size )?(?:exceeds|too large).{0,40}(?:fixed|user|recipient|mailbox|maximum message)|recipient.{0,40}size limit/i,
  ],
  [
    'mesgtoobig',
    /(?:message|mail|attachment|body|header|file|data)s?\b.{0,30}(?:too (?:big|large)|size.{0,20}(?:exceed|limit|maximum))|(?:exceed\w*|over).{0,40}(?:message|mail|maximum|max) ?size|size limit|too big/i,
  ],
  [
    'toomanyconn',
    /too many (?:concurrent|connections?|sessions?|recipients|smtp|simultaneous|hosts|envelope)|(?:connection|ip|session).{0,20}(?:frequency|limit|rate|count).{0,20}(?:limited|exceed|reached)|maximum (?:number of )?(?:connections|sessions)|concurrency/i,
  ],
  [
    'speeding',
    /rate.?limit|(?:too (?:many|much)|excessive) (?:mail|message|e-?mail|traffic|rate)|throttl|sending (?:rate|too fast)|please (?:try again )?slow|(?:mail|hourly|daily|sending) (?:limit|quota) (?:has been )?exceeded|unusual rate/i,
  ],
  [
    'norelaying',
    /relay(?:ing)? (?:access )?(?:denied|not (?:permitted|allowed)|prohibited|is not)|not (?:permitted|allowed) to relay|unable to relay|no relay|we do not relay|rcpthosts|relaying (?:mail )?(?:to|denied)|not (?:a|an) (?:open )?relay\b|authentication required for relay|mail to .{0,80} prohibited/i,
  ],
  [
    'spamdetected',
    /\bspam\b(?!haus|cop|mer.{0,10}list|.{0,40}(?:incident|block(?:ed)? (?:list|using)|issues)|rats).{0,60}|\b(?:ube|uce|unsolicited|bulk (?:e-?)?mail|junk ?mail)\b|content (?:was )?(?:rejected|filter)|message content rejected|suspicious (?:content|message)|identified as (?:spam|junk)|high probability of|contains? (?:a )?(?:blacklisted|spam)|bayes/i,
  ],
  [
    'badreputation',
    /(?:poor|bad|low|very low) (?:\w+ )?reputation|reputation (?:of|is|score|too)|senderscore/i,
  ],
  [
    'blocked',
    /\b(?:rbl|dnsbl|uribl|dnswl|rblsmtpd|blackhole|black ?list(?:ed)?|block ?list(?:ed)?|blocklist|deny ?list|spamhaus|spamcop|sorbs|barracudacentral|abuseat|cbl|psbl|mxrate|backscatterer)\b|\bblocked\b.{0,40}\b(?:using|by|for|from|see|ip)\b|(?:(?:client|sending|source|your)\s(?:host|ip|server|mail server|address|network)|sender'?s?\s(?:host|ip|server)).{0,60}(?:reject|block|banned|denied|refused|listed|not (?:allowed|accepted|authorized))|banned sending|\bip\b.{0,60}(?:block|bloqu|banned|listed|reject)|no access from mail server|open relay|service refuse|blocked for|messages from .{0,80}(?:weren.t sent|blocked)|please use the smtp server of your isp|dynamic ip|access from ip|connection (?:refused|rejected|denied) by (?:policy|filter)|access denied.{0,10}ip|\(BL\)|connect\w* (?:from|ip).{0,40}(?:reject|denied)|bad (?:helo|ehlo)|invalid (?:helo|ehlo)|helo (?:command )?rejected|not authorized to send from/is,
  ],
  [
    'policyviolation',
    /polic(?:y|ies)\b(?!.{0,20}dmarc)|content presents a potential|(?:attachment|file|content) (?:type )?(?:is )?not (?:allowed|accepted|permitted)|prohibited (?:content|attachment|file)|message not allowed|executable|illegal attachment|blocked because its content/i,
  ],
  [
    'securityerror',
    /smtp auth|authentication (?:required|failed|needed|turned on|is required|failure)|(?:un)?authenticated senders? not|must (?:be )?authenticat|delivery not authorized|not authenticated|requires authentication|turn on smtp|encryption (?:required|needed)|access denied \(state|insecure|security (?:reason|violation|error)/i,
  ],
  [
    'contenterror',
    /8[- ]?bit (?:data|character|content)|line too long|invalid (?:mime|header|character)|improper (?:use|header)|malformed|illegal (?:header|character)|(?:bad|unparsable|invalid) content|message header size/i,
  ],
  [
    'notaccept',
    /does not accept mail|find (?:a|any) mail exchanger|\bnull ?mx\b|no smtp service|mx or srv record|not (?:accept|receive)\w* (?:any )?(?:e-?)?mail|host (?:\S+ )?does not accept|smtp protocol (?:is )?not|had no relevant answers?.{0,20}null|couldn't find any host (?:by|named).{0,40}mx|no mail.?server/i,
  ],
  [
    'hostunknown',
    /host (?:or domain )?(?:name )?(?:is )?(?:unknown|not found|lookup)|unknown (?:host|domain|mail domain)|(?:domain|host)(?: name)? (?:\S{1,100} )?(?:does ?n[o']t exist|not found|is not reachable|invalid|unknown|not exist|cannot be found)|no such (?:domain|host)|unrout(?:e?able|ed) (?:mail ?domain|address)|illegal (?:host|domain)|bad destination (?:host|system)|no (?:mx|valid mx|dns)|recipient domain|unresolvable domain|invalid (?:recipient )?domain|bad (?:domain|host)|name or service not known/i,
  ],
  [
    'networkerror',
    /too many hops|hop count|(?:mail|routing|forwarding|message).{0,20}\bloop|loops? back|\bdns (?:error|failure|lookup|problem|server)|name (?:server|service).{0,20}(?:error|fail|timeout)|no route to host|network (?:is )?(?:unreachable|error)|host (?:is )?unreachable|connection (?:reset|lost|dropped|aborted)|lost connection|unexpected end|malformed (?:or unexpected )?name server|service not known|no such .{0,10}server|could not connect/i,
  ],
  [
    'userunknown',
    /(?:user|recipient|mailbox|account|address|addressee|userid|person|destinat\w+|local[- ]?part|to address|e-?mail|inbox|alias|login|name|adress\w*|empf[äa]nger\w*|utilisateur|destinatario|usuario)s?\W(?:[^\r\n]{0,160}\W)?(?:unknown|does ?n[o'’]t (?:exist|have)|not (?:exist|found|known|listed|recognized|valid|local|in|available|a valid|our)|doesn't|no longer|invalid|unavailable|is not valid|nonexistent|non existent|never existed|inconnu\w*|unbekannt|existiert nicht|invalide|no existe|nao existe|n[ãa]o existe|could not be found|can't be (?:found|verified)|undeliverable)|(?:unknown|invalid|no such|bad|nonexistent|illegal|not a valid|undefined|unrecognized|non-?existent) (?:\w+ ){0,3}(?:user|recipient|mailbox|account|address|addressee|userid|person|destination|local|alias|name|inbox|here)|no (?:mailbox|account|user|valid|recipient) (?:\w+ ){0,3}(?:here|by|with|found|name|such|recipients?)|user ?unknown|nosuchuser|no such user|recipnotfound|not listed in|unknown user|recipient not exist|this user doesn|isn't (?:a|one)|not on this (?:server|system)|destination mailbox address invalid|mailbox unavailable|delivery userid/i,
  ],
  [
    'rejected',
    /sender (?:address )?(?:\S{1,100} )?(?:rejected|denied|refused|not (?:allowed|accepted|exist)|verif\w*|invalid|unknown|domain)|(?:mail from|from address|return[- ]path|purported).{0,40}(?:rejected|invalid|not|denied)|purported\s+responsible|access denied|(?:address|domain) of sender|not (?:allowed|permitted|authorized) to (?:send|post|mail)|(?:rejected|refused) by (?:the )?(?:recipient|destination|administrator)|not have permission|(?:write|post|send) to the group|restricted|customfromdenied|google\W{1,3}(?:groups|グループ)|misconfigured or out of date|only accepts? (?:mail|messages) from/i,
  ],
  [
    'filtered',
    /\b(?:message )?filter(?:ed)?\b|recipient(?:'s)? (?:preference|refus|reject)|due to extended inbox|refused by the recipient|because the recipient is not accepting/i,
  ],
  [
    'expired',
    /timed? ?out\b|time-?out|\bexpired?\b|could not be delivered (?:for|within|after)|(?:retry|delivery) (?:time|attempts?|period|limit)|delivery (?:has been )?(?:delayed|failed \d+ attempts)|too (?:long|old)|in (?:the )?queue (?:too|for|more|longer)|gave? up|connection refused|has not been (?:delivered|able)|unable to (?:contact|connect)|not (?:yet )?(?:been )?delivered|attempted to deliver|giving up|mail has been delayed|delay reason|did not accept our requests|cannot connect|undeliverable (?:for|after)|retries/i,
  ],
  [
    'mailererror',
    /command (?:output|failed|died|line)|exit(?:ed)? (?:status|code|with)|died with|mailer (?:error|died)|\bx-unix\b|procmail|maildrop|pipe (?:to|program)|unknown mailer error|local delivery (?:agent|failed)|process (?:failed|exited)/i,
  ],
  [
    'systemerror',
    /(?:system|internal|server|local|software|temporary|config\w*|resource|queue file|protocol|ldap|database|sql|directory).{0,16}(?:error|fail\w*|problem|unavailable|shortage)|service (?:currently |temporarily |is )?(?:unavailable|not available|down)|transaction failed|could not (?:load|open|create|complete)|unable to (?:process|complete|open)|please try (?:again )?later|temporarily (?:deferred|unavailable|rejected)|maintenance|too busy|not permitted at this time|insufficient resources|out of memory/i,
  ],
  [
    'syntaxerror',
    /syntax error|(?:bad|improper|unrecognized|invalid|wrong) (?:sequence|command|parameter|argument)|command (?:not|un)|need (?:rcpt|mail)|out of (?:sequence|order)/i,
  ],
  // Generic words around a cause: they decide only where no cause was given.
  ['userunknown', /(?:address|recipient) rejected/i],
];

/** Causes by enhanced status code (RFC 3463 §3, RFC 7372, RFC 7505, the IANA registry), used when the text gives no cause. */
const BY_STATUS: readonly (readonly [RegExp, BounceReason])[] = [
  [/^[45]\.1\.[0134]$/, 'userunknown'],
  [/^[45]\.1\.2$/, 'hostunknown'],
  [/^[45]\.1\.6$/, 'hasmoved'],
  [/^[45]\.1\.[78]$/, 'rejected'],
  [/^[45]\.1\.9$/, 'systemerror'],
  [/^[45]\.1\.10$/, 'notaccept'],
  [/^5\.2\.0$/, 'filtered'],
  [/^[45]\.2\.1$/, 'suspend'],
  [/^[45]\.2\.2$/, 'mailboxfull'],
  [/^[45]\.2\.3$/, 'exceedlimit'],
  [/^[45]\.2\.4$/, 'filtered'],
  [/^[45]\.3\.1$/, 'systemfull'],
  [/^[45]\.3\.4$/, 'mesgtoobig'],
  [/^[45]\.3\.\d+$/, 'systemerror'],
  [/^[45]\.4\.4$/, 'hostunknown'],
  [/^[45]\.4\.[36]$/, 'networkerror'],
  [/^[45]\.4\.[127]$/, 'expired'],
  [/^[45]\.4\.\d+$/, 'networkerror'],
  [/^[45]\.5\.3$/, 'toomanyconn'],
  [/^[45]\.5\.[1-6]$/, 'syntaxerror'],
  [/^[45]\.6\.\d+$/, 'contenterror'],
  [/^[45]\.7\.(?:2[0-4]|26)$/, 'authfailure'],
  [/^[45]\.7\.25$/, 'requireptr'],
  [/^[45]\.7\.13$/, 'suspend'],
  [/^[45]\.7\.(?:[3-8]|1[0-2]|14)$/, 'securityerror'],
  [/^[45]\.7\.9$/, 'policyviolation'],
  [/^[45]\.7\.(?:5\d\d|60\d|7\d\d)$/, 'blocked'],
  [/^[45]\.7\.\d+$/, 'rejected'],
];

/** Unambiguous codes that stand above any words: the words beside them are free text in any language. */
const DECISIVE_STATUS: ReadonlyMap<string, BounceReason> = new Map([
  ['5.1.6', 'hasmoved'],
  ['5.1.10', 'notaccept'],
  ['5.2.2', 'mailboxfull'],
  ['4.2.2', 'mailboxfull'],
  ['5.2.3', 'exceedlimit'],
  ['5.7.9', 'policyviolation'],
  ['5.7.13', 'suspend'],
  ['5.7.25', 'requireptr'],
  ['4.7.25', 'requireptr'],
  ['5.7.26', 'authfailure'],
  ['4.7.26', 'authfailure'],
]);

/**
 * Addresses and links take part in no rule: "userunknown@example.org" and "…/help/spam" are not the cause. Codes of
 * continuation lines go, too, as they stand in the middle of sentences.
 */
function withoutNoise(text: string): string {
  return text
    .slice(0, 4000)
    .replace(/\bhttps?:\/\/[^\s<>"']{1,500}/gi, ' ')
    .replace(/<[^<>\s]{0,320}>|[^\s<>@]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,252}/g, '<>')
    .replace(/(?<=\S\s{1,4})[245]\d\d[ -][245]\.\d{1,3}\.\d{1,3}\s/g, ' ')
    .replace(/\s+/g, ' ');
}

/** The phase of the session in which the server refused, as Postfix, Exim and others write it down. */
function refusedAt(text: string): 'connect' | 'sender' | 'recipient' | 'content' | null {
  if (
    />>> DATA\s+<<< [45]|in reply to end of data|after end of data|in reply to data|after data|end of message/i.test(
      text,
    )
  )
    return 'content';
  if (/in reply to rcpt|after rcpt to|\brcpt to command/i.test(text)) return 'recipient';
  if (/in reply to mail from|after mail from/i.test(text)) return 'sender';
  if (
    /initial connection|in reply to (?:ehlo|helo)|while (?:receiving|sending) .{0,30}(?:greeting|initial)|after (?:ehlo|helo|connect)/i.test(
      text,
    )
  ) {
    return 'connect';
  }
  return null;
}

/** The cause of a delivery outcome in the words of `BOUNCE_REASONS`. Never throws; `undefined` when nothing is recognized. */
export function bounceReason(evidence: BounceEvidence): BounceReason {
  const { status, smtpCode, action } = evidence;
  if (action === 'delivered' || action === 'relayed' || action === 'expanded') return 'delivered';
  if (action !== 'failed' && status?.startsWith('2.')) return 'delivered';
  const text = withoutNoise(evidence.text);
  const decisive = status === null ? undefined : DECISIVE_STATUS.get(status);
  if (decisive) return decisive;
  const phase = refusedAt(`${evidence.text}\n${evidence.context ?? ''}`.slice(0, 8000));
  const byWords = RULES.find(([, pattern]) => pattern.test(text))?.[0];
  if (byWords === 'userunknown') {
    // A server that accepted the recipient and then says "unknown user" refuses the content.
    if (phase === 'content') return 'filtered';
    return byWords;
  }
  if (byWords === 'rejected' && phase === 'connect') return 'blocked';
  if (byWords) return byWords;
  const byStatus =
    status === null ? undefined : BY_STATUS.find(([pattern]) => pattern.test(status))?.[1];
  // A delay says that the attempts go on, whatever stopped the last one.
  if (byStatus === 'networkerror' && action === 'delayed') return 'expired';
  if (byStatus) return byStatus;
  if (phase === 'connect') return 'blocked';
  if (phase === 'sender') return 'rejected';
  if (phase === 'content') return 'filtered';
  if (smtpCode === 550 && phase === 'recipient') return 'userunknown';
  if (smtpCode === 552) return 'mailboxfull';
  if (smtpCode !== null && smtpCode >= 400 && smtpCode < 500) return 'onhold';
  return action === 'delayed' ? 'expired' : 'undefined';
}

/**
 * Whether another attempt is pointless because the address or its domain does not exist. A full, locked or filtering
 * mailbox may open again and says nothing against the address.
 */
export function isHardBounce(reason: BounceReason, status: string | null): boolean {
  if (reason === 'notaccept') return status === null || !status.startsWith('4.');
  return reason === 'userunknown' || reason === 'hostunknown' || reason === 'hasmoved';
}
