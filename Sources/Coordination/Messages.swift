package import Paths

/// One that asks or presents, in words for people and for presenters (`COO-29`).
package struct Party: Hashable, Sendable {
  /// The app's identifier; of a program of the host's: its name.
  package var app: String
  /// Its number on the host.
  package var process: Int32
  /// The coordinator's `purposeIdentifier`. Requests of one purpose never wait for each other (`COO-11`).
  package var purpose: String

  package init(app: String, process: Int32, purpose: String) {
    (self.app, self.process, self.purpose) = (app, process, purpose)
  }
}

/// A coordinated access that is asked for.
package struct Request: Hashable, Sendable {
  /// An access or a question for which it is made: it goes before the requests that wait for that.
  package enum Parent: Hashable, Sendable {
    /// An access that is under way in the same thread.
    case access(Int)
    /// A question that is being answered.
    case question(Int)
  }

  /// One connection or process; its end is the end of all that it has.
  package var client: Int
  package var party: Party
  package var intents: [Intent]
  package var parents: [Parent]
  /// Presenters are asked, and nothing is held (`COO-17`).
  package var isPreparation: Bool
  /// Nanoseconds for which it waits for one presenter, or for one access that holds it up; `nil`: for ever.
  package var patience: Int64?
  /// The consequence of a presenter's silence.
  package var silence: Silence

  package enum Silence: String, Sendable {
    /// The request fails, and names the presenter.
    case refuse
    /// The request goes on without the presenter.
    case proceed
  }

  /// One of its intents is to write.
  package var isWrite: Bool { intents.contains(where: \.isWrite) }

  package init(
    client: Int, party: Party, intents: [Intent], parents: [Parent] = [], isPreparation: Bool = false,
    patience: Int64? = nil, silence: Silence = .refuse
  ) {
    (self.client, self.party, self.intents, self.parents) = (client, party, intents, parents)
    (self.isPreparation, self.patience, self.silence) = (isPreparation, patience, silence)
  }
}

/// A presenter is asked, and answers.
package enum Question: Hashable, Sendable {
  case relinquishToReader
  case relinquishToWriter
  case saveChanges
  case accommodateDeletion
  /// Of an item in the presented package.
  case accommodateSubitemDeletion(PathKey)
}

/// A presenter is told.
package enum Notice: Hashable, Sendable {
  /// Another one has written; `isCoordinated`: after it had asked.
  case changed(isCoordinated: Bool)
  case attributesChanged
  case moved(to: PathKey)
  case deleted(isCoordinated: Bool)
  case subitemChanged(PathKey, isCoordinated: Bool)
  case subitemAppeared(PathKey, isCoordinated: Bool)
  case subitemMoved(PathKey, to: PathKey)
  case subitemDeleted(PathKey, isCoordinated: Bool)
}

/// A change that happened.
package enum Change: Hashable, Sendable {
  case content, attributes, created, deleted
}

package enum Input: Hashable, Sendable {
  /// The numbers are the caller's, and rise.
  case request(Int, Request)
  /// The answer to a question; with a text: the presenter could not (`COO-7`).
  case answer(Int, error: String?)
  case done(Int)
  /// An item that a granted access was to delete is still there: it counts as changed when the access ends.
  case kept(Int, PathKey)
  /// By its own side, or by the user's hand.
  case cancel(Int, by: Refusal.Canceller)
  case addPresenter(Int, Presenter)
  case removePresenter(Int)
  case clientEnded(Int)
  /// Its presenters hold no request up, and its waiting requests are cancelled (`COO-22`, `COO-23`).
  case suspend(Int)
  case resume(Int)
  /// - by: the access in which it happened; `nil`: a program that coordinates nothing.
  case moved(PathKey, to: PathKey, by: Int?)
  case changed(PathKey, Change)
  case time
}

package struct Presenter: Hashable, Sendable {
  package var client: Int
  package var party: Party
  package var item: Item

  package init(client: Int, party: Party, item: Item) { (self.client, self.party, self.item) = (client, party, item) }
}

package enum Effect: Hashable, Sendable {
  case ask(question: Int, presenter: Int, Question, for: Int)
  /// The answer is not waited for any more.
  case withdraw(question: Int, presenter: Int)
  /// A presenter has been silent for so many nanoseconds; the consequence follows.
  case silent(presenter: Int, Question, for: Int, after: Int64)
  case grant(Int, paths: [PathKey])
  case refuse(Int, Refusal)
  /// An access is over that a presenter had let go for.
  case reacquire(presenter: Int, after: Int)
  case notify(presenter: Int, Notice)
  /// The first goes before the second, which came earlier: otherwise both would wait for ever (`COO-30`).
  case reordered(Int, before: Int)
}

package enum Refusal: Hashable, Sendable {
  package enum Canceller: String, Sendable { case caller, user, suspension }

  case cancelled(Canceller)
  /// In the presenter's own words.
  case presenterFailed(presenter: Int, String)
  case presenterSilent(presenter: Int, Question, after: Int64)
  /// None of these has ended for so many nanoseconds.
  case held(by: [Int], for: Int64)
  /// Each waits for the next, and the last one for the first.
  case cycle([Link])

  package enum Link: Hashable, Sendable { case request(Int), question(Int) }
}
