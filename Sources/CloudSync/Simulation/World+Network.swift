extension World {
  mutating func deliver(_ position: Int) {
    let one = pending.remove(at: position)
    let d = one.device
    let isCurrent = one.epoch == devices[d].epoch
    if let request = one.request, !devices[d].isOnline {
      note { "\($0.devices[d].name) is offline and loses request \(request)." }
      if isCurrent { give(.lost(request: request), to: d) }
      return
    }
    switch one.work {
    case .fetch(let request, let since, let tombstonesSince):
      if server.ledger.isTooOld(tombstonesSince) {
        reply(one, .anchorTooOld(request: request))
      } else {
        let page = server.ledger.changes(since: since, limit: Self.pageLimit)
        reply(one, .page(request: request, page))
      }
    case .send(let request, let changes):
      var answers: [CloudAnswer] = []
      for keyed in changes where failure == nil {
        let answer = ask(keyed.change, device: d, key: keyed.key, isFirst: answers.isEmpty)
        note { _ in "Server: \(keyed.change) \(keyed.key) -> \(answer)" }
        answers.append(answer)
      }
      reply(one, .answers(request: request, answers))
    case .answer(let input) where isCurrent:
      var inputs = [input]
      if now / Self.stepTime % 4 == 0 { inputs += takeAnswers(for: d) }
      for input in inputs {
        note { "\($0.devices[d].name) <- \(input)" }
        if planted == .anchorSavedBeforePage, case .page(_, let page) = input {
          devices[d].saved.head.engine.anchor = page.next
        }
      }
      give(inputs, to: d)
    case .upload(let request, let id, let stamp) where isCurrent: upload(one, request, id, stamp)
    case .stage(let request, let item) where isCurrent: stage(one, request, item)
    case .act(let number, let act) where isCurrent: perform(act, number, on: d)
    case .scan where isCurrent:
      note { "\($0.devices[d].name) scans." }
      give(.scan(devices[d].disk.items), to: d)
    default: return
    }
  }

  /// All further answers that have reached the device: it takes them together.
  private mutating func takeAnswers(for d: Int) -> [SyncInput] {
    var inputs: [SyncInput] = []
    let (epoch, isOnline) = (devices[d].epoch, devices[d].isOnline)
    pending.removeAll { one in
      guard one.device == d, one.epoch == epoch, isOnline || one.request == nil, case .answer(let input) = one.work
      else { return false }
      inputs.append(input)
      return true
    }
    return inputs
  }

  private mutating func reply(_ one: Pending, _ input: SyncInput) {
    pending.append(Pending(device: one.device, epoch: one.epoch, work: .answer(input)))
  }

  /// The question or the answer gets lost; or the device gives up, and the question arrives later.
  mutating func lose(_ decision: Decision) {
    let candidates = pending.indices.filter { pending[$0].request != nil }
    guard !candidates.isEmpty else { return }
    let position = candidates[decision.first % candidates.count]
    let one = pending[position]
    guard let request = one.request else { return }
    note {
      "The network \(decision.kind == .lose ? "loses" : "delays") request \(request) of \($0.devices[one.device].name)."
    }
    if decision.kind == .lose || !one.isQuestion { pending.remove(at: position) }
    reply(one, .lost(request: request))
  }

  private mutating func upload(_ one: Pending, _ request: Int, _ id: String, _ stamp: String) {
    let disk = devices[one.device].disk
    guard let i = disk.position(of: id), disk.nodes[i].item.stamp == stamp, let content = disk.nodes[i].content else {
      give(.transferFailed(request: request), to: one.device)
      return
    }
    reply(one, .uploaded(request: request, content: content, size: Int64(content.utf8.count), stamp: stamp))
  }

  private mutating func stage(_ one: Pending, _ request: Int, _ item: CloudItem) {
    var content = item.content
    // Half of the bytes have come when the device shows the document.
    if planted == .partialDownloadVisible, let whole = content, now / Self.stepTime % 16 == 0 {
      content = "half of " + whole
    }
    reply(one, .staged(request: request, devices[one.device].disk.stage(item.kind, content: content)))
  }

  private mutating func perform(_ act: LocalAct, _ number: Int, on d: Int) {
    let outcome = devices[d].disk.perform(act, planted: planted)
    note { "\($0.devices[d].name) carries out \(act): \(outcome)" }
    switch outcome {
    case .refused: give(.refused(number: number), to: d)
    case .done(let item, let lost):
      check(act, lost: lost, on: d)
      if devices[d].isCrashDue() { crash(d) } else { give(.acted(number: number, item), to: d) }
    }
  }
}
