/// The cloud's process: the real ledger, and its stored rows.
struct ModelServer {
  private(set) var ledger = CloudLedger()
  private var rows: [String: CloudItem] = [:]
  private var receipts: [CloudReceipt] = []
  private var revision = 0
  private var oldestAnchor = 0
  /// Rows and receipts that a planted fault stores too late.
  private var unstored: [([CloudItem], CloudReceipt)] = []
  private let planted: PlantedFault?

  init(planted: PlantedFault?) {
    self.planted = planted
    ledger.planted = planted
  }

  /// - Parameter isFirst: of its message.
  mutating func answer(
    _ change: CloudChange, device: String, key: String, isFirst: Bool
  ) -> (CloudAnswer, [CloudItem]) {
    if let receipt = ledger.receipt(for: key) { return (receipt.answer, []) }
    let (answer, changed) = ledger.apply(change, device: device, key: key)
    let receipt = CloudReceipt(key: key, answer: answer)
    if isFirst || planted != .messagePartlyStored {
      for (late, receipt) in unstored { store(late, receipt) }
      unstored = []
    }
    if planted == .answerBeforeStore || planted == .messagePartlyStored && !isFirst {
      unstored.append((changed, receipt))
    } else {
      store(changed, receipt)
    }
    return (answer, changed)
  }

  private mutating func store(_ changed: [CloudItem], _ receipt: CloudReceipt) {
    for row in changed {
      rows[row.id] = row
      revision = max(revision, row.revision)
    }
    if planted != .receiptsNotStored { receipts.append(receipt) }
  }

  mutating func restart() {
    unstored = []
    ledger = CloudLedger(
      restoring: Array(rows.values), receipts: receipts, revision: revision, oldestAnchor: oldestAnchor)
    ledger.planted = planted
  }

  mutating func purge() {
    for id in ledger.forgetTombstones(upTo: ledger.revision) { rows[id] = nil }
    oldestAnchor = ledger.oldestAnchor
  }
}
