export const CONVERSATION_LIMITS = {
  conversations_per_change: 100,
  conversations_per_merge: 50,
  messages_per_split: 1000,
  note_characters: 100_000,
  mentions_per_note: 100,
  snooze_days: 366,
} as const;
