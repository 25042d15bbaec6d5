/// How far an ability goes. Ordered: the smaller extent comes first.
package enum Extent: Equatable, Hashable, Sendable, Comparable {
  case no
  /// Only for an app that asks for it with its entitlements, if the user allows it.
  case ifAllowed
  /// Only for an app that asks for it with its entitlements. Said of a policy; an app has asked, or it has not.
  case ifAsked
  /// So much of the ability's unit.
  case upTo(Int)
  case yes

  /// `no`, `ifAllowed`, `ifAsked`, `upTo` or `yes`, for programs.
  package var name: String {
    switch self {
    case .no: "no"
    case .ifAllowed: "ifAllowed"
    case .ifAsked: "ifAsked"
    case .upTo: "upTo"
    case .yes: "yes"
    }
  }

  package var amount: Int? { if case .upTo(let amount) = self { amount } else { nil } }

  package var isPossible: Bool { self != .no }

  package init(_ isPossible: Bool) { self = isPossible ? .yes : .no }

  /// A ceiling, or none.
  package init(ceiling: Int?) { self = ceiling.map { .upTo($0) } ?? .yes }
}

/// The unit of an amount.
package enum AbilityUnit: String, Sendable, Codable {
  case count, bytes, seconds
  /// Thousandths of a processor.
  case milliprocessors

  /// The amount as people and policies write it.
  package func text(_ amount: Int) -> String {
    switch self {
    case .count: return "\(amount)"
    case .milliprocessors: return Self.decimal(amount, over: 1000)
    case .bytes:
      let units: [(name: String, bytes: Int)] = [
        ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
      ]
      guard let unit = units.first(where: { amount >= $0.bytes }) else { return "\(amount) B" }
      return "\(Self.decimal(amount, over: unit.bytes)) \(unit.name)"
    case .seconds:
      var rest = amount
      var text = ""
      for (name, seconds) in [("d", 86400), ("h", 3600), ("m", 60), ("s", 1)] where rest >= seconds {
        text += "\(rest / seconds)\(name)"
        rest %= seconds
      }
      return text.isEmpty ? "0s" : text
    }
  }

  /// At most two digits behind the point, and none that are nothing.
  private static func decimal(_ amount: Int, over unit: Int) -> String {
    let hundredths = Int((Double(amount) / Double(unit) * 100).rounded())
    let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }
}
