internal import Foundation

/// The places of apps, documents and their connections in the picture: apps left, documents right, in columns whose order keeps
/// lines from crossing. The same model gives the same picture. Lengths are in the picture's own units, 1 on paper and screen.
struct ReachGraph {
  struct Box {
    /// Index in the model.
    let index: Int
    let x: Double
    var y: Double
    let width: Double
    let height: Double
    var middle: Double { y + height / 2 }
  }

  struct Line {
    /// Index in the model's reaches.
    let reach: Int
    let from: (x: Double, y: Double)
    let to: (x: Double, y: Double)
    let thickness: Double
  }

  static let width = 960.0
  private static let appWidth = 250.0
  private static let placeWidth = 390.0
  private static let appHeight = 44.0
  private static let placeHeight = 40.0
  private static let gap = 8.0
  private static let margin = 4.0

  private(set) var apps: [Box] = []
  private(set) var places: [Box] = []
  private(set) var lines: [Line] = []
  private(set) var height = 0.0

  init(_ model: ReportModel) {
    let (appOrder, placeOrder) = Self.order(model)
    let rows = (
      Double(appOrder.count) * (Self.appHeight + Self.gap), Double(placeOrder.count) * (Self.placeHeight + Self.gap)
    )
    height = max(rows.0, rows.1) + 2 * Self.margin - Self.gap
    places = Self.column(
      placeOrder, x: Self.width - Self.margin - Self.placeWidth, Self.placeWidth, Self.placeHeight,
      from: (height - rows.1 + Self.gap) / 2)
    apps = Self.column(
      appOrder, x: Self.margin, Self.appWidth, Self.appHeight, from: (height - rows.0 + Self.gap) / 2)
    spread(model)
    join(model)
  }

  /// Each column by the middle of its members' partners in the other one, a few times over; of equals by the model's order, in
  /// which paths of one folder stand together.
  private static func order(_ model: ReportModel) -> (apps: [Int], places: [Int]) {
    var apps = Array(model.apps.indices).filter { app in model.reaches.contains { $0.app == app } }
    // An app that reached nothing has no lines to follow: it stands below.
    let alone = model.apps.indices.filter { app in !apps.contains(app) }
    var places = Array(model.places.indices)
    let toPlaces = Dictionary(grouping: model.reaches, by: \.app).mapValues { $0.map(\.place) }
    let toApps = Dictionary(grouping: model.reaches, by: \.place).mapValues { $0.map(\.app) }
    for _ in 0..<8 {
      places = sorted(places, along: apps, toApps)
      apps = sorted(apps, along: places, toPlaces)
    }
    return (apps + alone, places)
  }

  private static func sorted(_ members: [Int], along others: [Int], _ joined: [Int: [Int]]) -> [Int] {
    let rank = Dictionary(uniqueKeysWithValues: others.enumerated().map { ($1, $0) })
    let middles = members.map { member in
      let ranks = (joined[member] ?? []).compactMap { rank[$0] }
      return (member, ranks.isEmpty ? 0 : Double(ranks.reduce(0, +)) / Double(ranks.count))
    }
    return middles.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
  }

  private static func column(
    _ order: [Int], x: Double, _ width: Double, _ height: Double, from top: Double
  ) -> [Box] {
    order.enumerated().map { row, index in
      Box(index: index, x: x, y: top + Double(row) * (height + gap), width: width, height: height)
    }
  }

  /// Moves apps to the middle of the documents that they reached, as far as their order leaves room.
  private mutating func spread(_ model: ReportModel) {
    let middles = Dictionary(uniqueKeysWithValues: places.map { ($0.index, $0.middle) })
    let step = Self.appHeight + Self.gap
    var wanted = apps.map { app in
      let reached = model.reaches.filter { $0.app == app.index }.compactMap { middles[$0.place] }
      return reached.isEmpty ? app.y : reached.reduce(0, +) / Double(reached.count) - Self.appHeight / 2
    }
    for row in wanted.indices.dropFirst() { wanted[row] = max(wanted[row], wanted[row - 1] + step) }
    let bottom = height - Self.margin - Self.appHeight
    for row in wanted.indices.reversed() {
      wanted[row] = min(wanted[row], bottom - Double(wanted.count - 1 - row) * step)
    }
    for row in wanted.indices { apps[row].y = max(wanted[row], Self.margin + Double(row) * step) }
  }

  /// Lines leave and arrive side by side, in the order of where they go.
  private mutating func join(_ model: ReportModel) {
    let appBoxes = Dictionary(uniqueKeysWithValues: apps.map { ($0.index, $0) })
    let placeBoxes = Dictionary(uniqueKeysWithValues: places.map { ($0.index, $0) })
    let leaving = Dictionary(grouping: model.reaches.indices) { model.reaches[$0].app }
    let arriving = Dictionary(grouping: model.reaches.indices) { model.reaches[$0].place }
    func port(_ box: Box, _ reach: Int, among all: [Int], by other: (Int) -> Double) -> Double {
      let order = all.sorted { (other($0), $0) < (other($1), $1) }
      let place = Double(order.firstIndex(of: reach) ?? 0)
      let room = min(box.height - 12, Double(order.count - 1) * 6)
      return box.middle - room / 2 + (order.count > 1 ? place * room / Double(order.count - 1) : 0)
    }
    // Of many lines each is thinner, so that one can be told from another.
    let crowd = max(0.35, min(1, 80 / Double(max(1, model.reaches.count))))
    for (index, reach) in model.reaches.enumerated() {
      guard let app = appBoxes[reach.app], let place = placeBoxes[reach.place] else { continue }
      lines.append(
        Line(
          reach: index,
          from: (
            app.x + app.width,
            port(app, index, among: leaving[reach.app] ?? []) { placeBoxes[model.reaches[$0].place]?.y ?? 0 }
          ),
          to: (
            place.x,
            port(place, index, among: arriving[reach.place] ?? []) { appBoxes[model.reaches[$0].app]?.y ?? 0 }
          ), thickness: Self.thickness(reach.starts) * crowd))
    }
  }

  /// From one start to a hundred thousand, ten times as many is a step.
  static func thickness(_ starts: Int) -> Double {
    starts < 2 ? 1.5 : min(7, 1.5 + 1.1 * log10(Double(starts)))
  }
}
