import { describeWithKafka, startNativeKafka } from '@dak/testing/kafka';
import { describeCrashes } from './describe-crashes';

describeWithKafka(
  'the log in Kafka under fire',
  () => {
    describeCrashes(startNativeKafka);
  },
  'native',
);
