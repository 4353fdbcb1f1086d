export { FairSlots, type FairSlotsOptions, type Slot } from './fair-slots';
