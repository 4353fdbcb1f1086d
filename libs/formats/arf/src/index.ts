export { readFeedbackReport, type FeedbackReport } from './feedback-report';
