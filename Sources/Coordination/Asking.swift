internal import Paths

/// Presenters are asked before an access, one question at a time, all presenters at once.
extension Arbiter {
  mutating func ask(_ id: Int) {
    entries[id]?.phase = .asking
    for (presenter, questions) in agenda(of: id) {
      entries[id]?.agenda[presenter] = questions
      askNext(presenter, for: id)
    }
    // A presenter may have to save before it can answer, and its request may stand behind this one.
    if entries[id]?.outstanding.isEmpty == false { reorder(around: id) }
  }

  private mutating func askNext(_ presenter: Int, for id: Int) {
    guard let question = entries[id]?.agenda[presenter]?.first, let client = presenters[presenter]?.client else {
      return
    }
    entries[id]?.agenda[presenter]?.removeFirst()
    let number = nextQuestion
    nextQuestion += 1
    questions[number] = Asked(
      presenter: presenter, client: client, question: question, request: id, since: now)
    index.insert(question: number, to: client)
    entries[id]?.outstanding.insert(number)
    effects.append(.ask(question: number, presenter: presenter, question, for: id))
    wake(at: entries[id]?.request.patience.map { now + $0 })
  }

  /// The question is not open any more.
  mutating func takeQuestion(_ number: Int) -> Asked? {
    guard let asked = questions.removeValue(forKey: number) else { return nil }
    entries[asked.request]?.outstanding.remove(number)
    index.remove(question: number, to: asked.client)
    return asked
  }

  mutating func answer(_ number: Int, _ error: String?) {
    guard let asked = takeQuestion(number), let entry = entries[asked.request] else { return }
    if !entry.relinquished.contains(asked.presenter) { entries[asked.request]?.relinquished.append(asked.presenter) }
    if let error {
      refuse(asked.request, .presenterFailed(presenter: asked.presenter, error))
      return
    }
    entries[asked.request]?.answered[asked.presenter, default: []].append(asked.question)
    askNext(asked.presenter, for: asked.request)
    ready.append(asked.request)
  }

  /// The presenter is gone, or not waited for.
  mutating func skip(_ number: Int) {
    guard let asked = takeQuestion(number) else { return }
    entries[asked.request]?.agenda[asked.presenter] = nil
    if presenters[asked.presenter] != nil {
      effects.append(.withdraw(question: number, presenter: asked.presenter))
      // It may have let go: then it hears of the end.
      if entries[asked.request]?.relinquished.contains(asked.presenter) == false {
        entries[asked.request]?.relinquished.append(asked.presenter)
      }
    }
    ready.append(asked.request)
  }

  /// Whether a request to read an item, with a purpose of its own, is granted at once and without a question. A quick look: it may say no
  /// where the answer is yes.
  package func isFree(toRead item: Item) -> Bool {
    guard entries.isEmpty else { return false }
    let near = places.presenters(near: item.place, withContents: Intent(item, .read([])).takesPlace)
    return near.allSatisfy { number in
      presenters[number].map { suspended.contains($0.client) } ?? true
    }
  }

  /// The questions of each presenter, in the order of the presenters' numbers.
  private func agenda(of id: Int) -> [(Int, [Question])] {
    guard let request = entries[id]?.request, !presenters.isEmpty else { return [] }
    let near = request.intents.flatMap { intent in
      places.presenters(near: intent.item.place, withContents: intent.takesPlace || request.isPreparation)
    }
    return Set(near).sorted().compactMap { number in
      guard let presenter = presenters[number], presenter.party.purpose != request.party.purpose,
        !suspended.contains(presenter.client)
      else { return nil }
      var questions: [Question] = []
      for intent in request.intents {
        for question in intent.questions(to: presenter.item, isPreparation: request.isPreparation)
        where !questions.contains(question) { questions.append(question) }
      }
      questions.sort { $0.rank < $1.rank }
      // The stronger one says it all.
      if questions.contains(.relinquishToWriter) { questions.removeAll { $0 == .relinquishToReader } }
      let prepared = request.parents.flatMap { parent -> [Question] in
        guard case .access(let id) = parent, let entry = entries[id], entry.request.isPreparation else { return [] }
        return entry.answered[number] ?? []
      }
      questions.removeAll { question in
        prepared.contains(question)
          || question == .relinquishToReader && prepared.contains(.relinquishToWriter)
      }
      return questions.isEmpty ? nil : (number, questions)
    }
  }
}
