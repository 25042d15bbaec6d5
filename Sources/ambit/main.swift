import Kernel
import Sandbox
import Foundation
do {
let args = Array(CommandLine.arguments.dropFirst())
let root = getuid() == 0
if !root { try Namespaces.becomeMountOwner(); try Namespaces.ownProcEntries() }
let plan = SandboxPlan(SandboxRequest(program: .file(path: args[0]), arguments: Array(args.dropFirst()), bundleIdentifier: "x", container: ProcessInfo.processInfo.environment["C"]!, hostID: root ? 0x7000_0001 : nil), on: .current())
let t0 = DispatchTime.now().uptimeNanoseconds
let box = try SandboxLauncher(cache: SeccompCache(folder: "/tmp/try/cache\(getuid())")).start(plan, standardStreams: (0..<3).map { Descriptor(owning: dup($0)) })
loop: while true {
  let m = try box.receive()
  if CommandLine.arguments.count < 2 { print(m) }
  switch m {
  case .ready(_, _, _, _): try box.go()
  case .failed(let s, let e, let st): FileHandle.standardError.write(Data("failed \(s) \(e) step \(st) \(st < plan.root.count ? "\(plan.root[st])" : "")\n".utf8))
  case .ended: break loop
  case .exited: FileHandle.standardError.write(Data("\(m) \(Double(DispatchTime.now().uptimeNanoseconds - t0)/1e6) ms\n".utf8))
  default: break
  }
}
} catch { print(error) }
