export { bounceReason, isHardBounce } from './bounce-reason';
export {
  BOUNCE_REASONS,
  DELIVERY_ACTIONS,
  type BounceReason,
  type DeliveryAction,
  type DeliveryStatus,
  type RecipientOutcome,
  type RecipientStatus,
} from './delivery-status';
export { parseDeliveryStatus } from './parse-delivery-status';
export { readDeliveryReport, type DeliveryReport } from './read-delivery-report';
export { findEnhancedStatus, findReplyCode } from './response-codes';
