import Kernel

/// Stands in for the user (`PCK-22`): answers each request with the next answer of a script, under the same rules and
/// by the same opening as the terminal picker.
package struct ScriptedPicker: Sendable {
  package enum Answer: Sendable, Equatable {
    /// Paths to choose; relative ones from the current folder of this process.
    case pick([String])
    case cancel
    /// A new document in this folder; `nil`: in none of the user's folders.
    case create(String?)
    /// An action of the app's, by its identifier, on these; none for a button.
    case act(String, [String])
    /// The answers to a file provider's form, by the keys of its fields, and the button; `nil`: the first one.
    case fill([String: String], button: String?)
  }

  private var answers: ArraySlice<Answer>
  private var used = 0

  package init(answers: [Answer]) { self.answers = answers[...] }
  package init(picks: [[String]]) { self.init(answers: picks.map(Answer.pick)) }

  /// How many answers are left.
  package var remaining: Int { answers.count }

  /// The next answer. An answer that does not fit the request is used up and is an error: a script that is wrong
  /// should not go on as if it were right.
  package mutating func next(for request: PickerRequest) -> Result<PickerOutcome, PickerError> {
    used += 1
    guard let answer = answers.popFirst() else {
      let asked = DisplayText.quoted(request.appName)
      return .failure(
        PickerError("\(asked) asks for \(request.wanted), and the script has no answer left (it had \(used - 1))."))
    }
    switch answer {
    case .cancel: return .success(.cancelled)
    case .create(let path):
      guard request.creates else { return .failure(PickerError("Answer \(used): this app makes no new documents.")) }
      guard let path else { return .success(.create(nil)) }
      do throws(KernelError) { return .success(.create(try DocumentOpening.open(path))) } catch {
        return .failure(PickerError("Answer \(used): \(DocumentOpening.sentence(error, path))"))
      }
    case .act(let identifier, let paths):
      do throws(PickerError) { return .success(try act(identifier, paths, for: request)) } catch {
        return .failure(PickerError("Answer \(used): \(error)"))
      }
    case .fill: return .failure(PickerError("Answer \(used) is for the form of a provider, and the app asks."))
    case .pick(let paths):
      do throws(PickerError) {
        return .success(.picked(try request.documents(at: paths)))
      } catch {
        return .failure(PickerError("Answer \(used): \(error)"))
      }
    }
  }

  private func act(
    _ identifier: String, _ paths: [String], for request: PickerRequest
  ) throws(PickerError) -> PickerOutcome {
    guard let action = request.actions.first(where: { $0.identifier == identifier }) else {
      throw PickerError("this app has no action \(DisplayText.quoted(identifier)).")
    }
    guard action.documents else { return .acted(identifier, "", []) }
    var question = request
    question.multiple = action.multiple
    let documents = try question.documents(at: paths)
    for document in documents where !action.takes(.entry(FileName(document.name))) {
      throw PickerError("\(DisplayText.quoted(document.name)) is not of a type that the action takes.")
    }
    return .acted(identifier, "", documents)
  }

  /// The answer to a provider's form, if it is the next one.
  ///
  /// - Returns: `nil`: cancelled.
  package mutating func next(for form: ProviderForm) -> Result<ProviderForm.Reply?, PickerError> {
    switch answers.first {
    case .fill(let values, let button):
      answers.removeFirst()
      used += 1
      guard let reply = form.filled(values, button: button) else {
        return .failure(PickerError("Answer \(used) does not fit the form of \(DisplayText.quoted(form.provider))."))
      }
      return .success(reply)
    case .cancel:
      answers.removeFirst()
      used += 1
      return .success(nil)
    default:
      let refused = form.refused.map { " It has refused the last answers: \(DisplayText($0).plain)." } ?? ""
      return .failure(
        PickerError(
          "\(DisplayText.quoted(form.provider)) asks with a form, and the script's next answer is for none.\(refused)"))
    }
  }
}

extension ChoiceRule {
  /// The same question about the open file: by its real name, not by that of a link that led to it.
  func refusal(of document: PickedDocument) -> String? {
    refusal(of: document.kind == .file ? .file : kind(ofFolder: document.name), named: document.name)
  }
}

extension PickerRequest {
  /// Documents that were chosen by their paths, under the rules of a choice by hand.
  package func documents(at paths: [String]) throws(PickerError) -> [PickedDocument] {
    if paths.isEmpty { throw PickerError("it picks nothing; name a path, or cancel.") }
    if paths.count > 1 && !multiple {
      throw PickerError(
        "the app asks for one \(kind == .file ? "document" : "folder"), and \(paths.count) are given.")
    }
    if paths.count > PickerRequest.mostChosen {
      throw PickerError("no more than \(PickerRequest.mostChosen) can be chosen at once, and \(paths.count) are given.")
    }
    let rule = ChoiceRule(self)
    var documents: [PickedDocument] = []
    for path in paths {
      do {
        let document = try DocumentOpening.open(path)
        if let refusal = rule.refusal(of: document) { throw PickerError(refusal) }
        documents.append(document)
      } catch let error as KernelError {
        throw PickerError(DocumentOpening.sentence(error, path))
      } catch {
        throw PickerError("\(error)")
      }
    }
    return documents
  }
}
