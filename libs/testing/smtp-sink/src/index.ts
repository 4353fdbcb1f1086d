export {
  delay,
  drop,
  reply,
  replyAndClose,
  silence,
  tryAgainIn,
  write,
  type SinkAction,
  type SinkEvent,
  type SinkPhase,
  type SinkScript,
} from './sink-script';
export type { SinkExtensions, SinkMessage } from './sink-session';
export {
  DEFAULT_EXTENSIONS,
  startSmtpSink,
  type SmtpSink,
  type SmtpSinkOptions,
} from './smtp-sink';
export { openSmtpDialog, SmtpDialog } from './smtp-dialog';
export { deliver } from './deliver';
