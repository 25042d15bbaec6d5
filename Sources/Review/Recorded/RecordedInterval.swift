package import Foundation

/// Something that held from one moment to another. An ending that is nil: it still held when the log ended.
package enum RecordedInterval: Equatable, Sendable {
  case instance(RecordedInstance, RecordedInstanceEnding?)
  case grant(RecordedGrant, RecordedGrantEnding?)
  case scope(RecordedScope, RecordedScopeEnding?)

  /// With its end as far as it is known if nothing more is read. For a dead broker's scopes that no other broker took over, nothing
  /// is known since.
  package func asLastHeard(_ sequence: Int64) -> Self {
    switch self {
    case .scope(let scope, nil):
      guard let gap = scope.gap else { return self }
      return .scope(
        scope,
        RecordedScopeEnding(
          cause: .unknown, rule: nil, reason: nil, time: gap.to, certain: max(scope.since, gap.from), sequence: sequence
        ))
    case .instance(let instance, nil):
      guard let gap = instance.gap else { return self }
      return .instance(
        instance,
        RecordedInstanceEnding(
          status: nil, signal: nil, reason: nil, isRecorded: false, time: gap.to,
          certain: max(instance.since, gap.from),
          sequence: sequence))
    default: return self
    }
  }

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
