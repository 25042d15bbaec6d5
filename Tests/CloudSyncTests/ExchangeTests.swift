import CloudSync
import Testing

/// Many documents at once.
@Suite struct ExchangeTests {
  @Test func manyDocumentsGoInFewMessages() {
    var exchange = Exchange()
    #expect(exchange.run(documents: 1_000) == 1_000)
    #expect(exchange.messages == (1_000 + SyncLimits().changes - 1) / SyncLimits().changes)
  }

  @Test func manyNamesThatTheCloudHasAlreadyGetOthers() {
    var exchange = Exchange()
    #expect(exchange.run(documents: 300, collide: true) == 600)
  }
}
