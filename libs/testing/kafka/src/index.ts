export { describeWithKafka, kafkaSource, openTestKafka, type KafkaSource } from './test-kafka';
export { startNativeCluster, type NativeCluster } from './native-cluster';
export { startNativeKafka, type NativeKafka } from './native-kafka';
