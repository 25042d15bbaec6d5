/// Names of socket families, for people (`address_families(7)`).
enum SocketFamily {
  private static let names: [UInt32: String] = [
    1: "AF_UNIX", 2: "AF_INET", 10: "AF_INET6", 16: "AF_NETLINK", 17: "AF_PACKET", 31: "AF_BLUETOOTH", 38: "AF_ALG",
    40: "AF_VSOCK",
  ]

  static func name(_ number: UInt32) -> String { names[number] ?? "family \(number)" }
}
