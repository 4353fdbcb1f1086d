export {
  automationSignals,
  type AutomationSignals,
  type AutoSubmitted,
  type ListSignals,
} from './auto-submitted';
