internal import AmbitKit
internal import Foundation
internal import Synchronization

/// Starts, stops and asks from several threads at once, each over a connection of its own, and compares the broker's books with its
/// own in the end.
enum Hammer {
  private struct Books {
    var counts: [String: Int] = [:]
    var refused = 0
    var wrong = 0
  }

  /// - Parameter leaving: what is started in the end stays so, and is answered as counts by path.
  static func run(_ urls: [URL], threads: Int, rounds: Int, leaving: Bool = false) throws -> [String: Any] {
    let books = Mutex(Books())
    let done = DispatchGroup()
    for _ in 0..<threads {
      done.enter()
      Thread.detachNewThread {
        work(urls, rounds, books)
        done.leave()
      }
    }
    done.wait()
    let mine = books.withLock { $0 }
    let before = try SecurityScope.status()
    let theirs = Dictionary(before.holders.map { ($0.path, $0.count) }) { $0 + $1 }
    let agrees = theirs == mine.counts.filter { $0.value > 0 } && before.used == theirs.count
    if leaving { return ["agrees": agrees, "wrong": mine.wrong, "refused": mine.refused, "left": theirs] }
    for url in urls { while try SecurityScope.stop(url) > 0 {} }
    return [
      "agrees": agrees, "wrong": mine.wrong, "refused": mine.refused, "started": theirs.count,
      "left": try SecurityScope.status().used,
    ]
  }

  private static func work(_ urls: [URL], _ rounds: Int, _ books: borrowing Mutex<Books>) {
    var own: [URL: Int] = [:]
    for _ in 0..<rounds {
      guard let url = urls.randomElement() else { return }
      do {
        if Bool.random(), own[url, default: 0] > 0 {
          try SecurityScope.stop(url)
          own[url, default: 0] -= 1
          books.withLock { $0.counts[url.path, default: 0] -= 1 }
        } else if Int.random(in: 0..<8) == 0 {
          let status = try SecurityScope.status()
          if status.used != status.holders.count || status.used > status.limit { books.withLock { $0.wrong += 1 } }
        } else {
          try SecurityScope.start(url)
          own[url, default: 0] += 1
          books.withLock { $0.counts[url.path, default: 0] += 1 }
        }
      } catch {
        let isFull = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EMFILE
        books.withLock { books in if isFull { books.refused += 1 } else { books.wrong += 1 } }
      }
    }
  }
}
