package import Foundation

/// Something that held from one moment to another. An ending that is nil: it still held when the log ended.
package enum RecordedInterval: Equatable, Sendable {
  case instance(RecordedInstance, RecordedInstanceEnding?)
  case grant(RecordedGrant, RecordedGrantEnding?)
  case scope(RecordedScope, RecordedScopeEnding?)

  package var app: String {
    switch self {
    case .instance(let instance, _): instance.app
    case .grant(let grant, _): grant.app
    case .scope(let scope, _): scope.app
    }
  }

  package var since: Date {
    switch self {
    case .instance(let instance, _): instance.since
    case .grant(let grant, _): grant.since
    case .scope(let scope, _): scope.since
    }
  }

  package var until: Date? {
    switch self {
    case .instance(_, let ending): ending?.time
    case .grant(_, let ending): ending?.time
    case .scope(_, let ending): ending?.time
    }
  }
}
