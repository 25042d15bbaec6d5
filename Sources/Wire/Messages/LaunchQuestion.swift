extension LauncherInterface {
  /// What the broker needs to know of the user before it begins a launch (`Question`).
  package struct Question: WireMessage, Equatable {
    package enum Kind: String, CaseIterable, Sendable { case identity, entitlements }

    package struct Choice: WireMessage, Equatable {
      /// A word: the answer names it.
      package var key: String
      package var label: String

      package init(_ key: String, _ label: String) { (self.key, self.label) = (key, label) }

      package init(json: JSONObject) throws(FieldError) {
        key = try json.string("key")
        label = try json.string("label")
      }

      package var json: JSONObject { ["key": .string(key), "label": .string(label)] }
    }

    package var kind: Kind
    /// Sentences for the user.
    package var text: String
    /// The last one is taken where the user makes none: at the end of the input, or with Ctrl-C.
    package var choices: [Choice]

    package init(kind: Kind, text: String, choices: [Choice]) {
      self.kind = kind
      self.text = text
      self.choices = choices
    }

    package init(json: JSONObject) throws(FieldError) {
      kind = try json.choice("kind")
      text = try json.string("text")
      choices = try json.messages("choices")
    }

    package var json: JSONObject {
      ["kind": .string(kind.rawValue), "text": .string(text), "choices": choices.map(\.json).json]
    }
  }

  /// The user's choice (`QuestionAnswer`).
  package struct QuestionAnswer: WireMessage, Equatable {
    package var kind: Question.Kind
    /// The key of a choice.
    package var choice: String

    package init(_ kind: Question.Kind, _ choice: String) { (self.kind, self.choice) = (kind, choice) }

    package init(json: JSONObject) throws(FieldError) {
      kind = try json.choice("kind")
      choice = try json.string("choice")
    }

    package var json: JSONObject { ["kind": .string(kind.rawValue), "choice": .string(choice)] }
  }
}
