export {
  readDispositionNotification,
  type DispositionNotification,
} from './disposition-notification';
