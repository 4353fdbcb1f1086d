export { describeWithKafka, kafkaSource, openTestKafka, type KafkaSource } from './test-kafka';
export { startNativeKafka, type NativeKafka } from './native-kafka';
