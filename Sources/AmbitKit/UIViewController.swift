internal import Foundation

/// The part of UIKit's class that presents others: a picker, or a browser. There is no view: Ambit draws outside of the sandbox.
open class UIViewController {
  /// A controller that presents others.
  public init() {}

  /// Presents another controller, and returns at once. The user's answer comes to its delegate, on the main queue, which has to be
  /// served: by `RunLoop.main`, `dispatchMain()` or an asynchronous `main`.
  ///
  /// - Parameters:
  ///   - animated: kept for code that sets it.
  ///   - completion: called on the main queue once the controller is being shown.
  open func present(
    _ viewControllerToPresent: UIViewController, animated flag: Bool, completion: (@Sendable () -> Void)? = nil
  ) {
    viewControllerToPresent.beginPresentation()
    if let completion { DispatchQueue.main.async(execute: completion) }
  }

  /// Asks the user from a thread of its own.
  func beginPresentation() {}
}

/// A controller on its way to its thread, and back to the main queue: one of them has it at a time.
struct Presented<Controller: UIViewController>: @unchecked Sendable {
  let controller: Controller

  /// - Parameters:
  ///   - ask: waits for the user; on a thread.
  ///   - tell: tells the delegate; on the main queue.
  func begin<Answer>(
    ask: @escaping @Sendable (Controller) throws -> Answer,
    tell: @escaping @Sendable (Controller, Result<Answer, any Error>) -> Void
  ) {
    Thread.detachNewThread {
      let answer = Carried(value: Result { try ask(controller) })
      DispatchQueue.main.async { tell(controller, answer.value) }
    }
  }

  private struct Carried<Value>: @unchecked Sendable { let value: Value }
}
