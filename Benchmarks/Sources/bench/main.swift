import Foundation

#if canImport(Glibc)
  import Glibc
#endif

// usage: bench AMBIT INSIDE [PART…]
// AMBIT and INSIDE are the paths of those programs. FORMAT=json writes one object a line.

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
  progress(
    "usage: bench AMBIT INSIDE [launch] [crowd] [calls] [scope] [grant] [growth] [io] [resolve] [save] [coordination] [query] [lesson] [picker] [cloud] [provider] [audit-explain] [audit]"
  )
  exit(2)
}
let known = [
  "launch", "crowd", "calls", "scope", "grant", "growth", "io", "resolve", "save", "coordination", "document",
  "query", "lesson", "picker", "cloud", "provider",
  "audit-explain", "audit",
]
let chosen = arguments.count > 3 ? Array(arguments[3...]) : known
if let unknown = chosen.first(where: { !known.contains($0) }) {
  progress("there is no part called \(unknown); there are \(known.joined(separator: ", "))")
  exit(2)
}
// A peer that goes away must not take the driver along.
signal(SIGPIPE, SIG_IGN)

do {
  let bench = try Bench(ambit: arguments[1], inside: arguments[2])
  defer { bench.clear() }
  var rows: [Row] = []
  for part in known where chosen.contains(part) {
    progress(part)
    switch part {
    case "launch": rows += bench.launch()
    case "crowd": rows += bench.crowd()
    case "calls": rows += bench.calls()
    case "scope": rows += bench.scope()
    case "grant": rows += bench.grant()
    case "growth": rows += bench.growth()
    case "io": rows += bench.io()
    case "resolve": rows += bench.resolve()
    case "coordination": rows += bench.coordination()
    case "document": rows += bench.document()
    case "query": rows += bench.queries()
    case "lesson": rows += bench.lesson()
    case "picker": rows += bench.picker()
    case "cloud": rows += bench.cloud()
    case "provider": rows += bench.provider()
    case "audit-explain": rows += bench.auditExplain()
    case "audit": rows += bench.audit()
    default: rows += bench.save()
    }
  }
  let report = Report(rows: rows)
  if ProcessInfo.processInfo.environment["FORMAT"] == "json" {
    print(try report.json(), terminator: "")
  } else {
    print(report.table(coloured: isatty(STDOUT_FILENO) == 1), terminator: "")
  }
} catch {
  progress("\(error)")
  exit(1)
}
