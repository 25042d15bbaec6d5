// What an app may reach, what it did reach, and what would change: questions that a person asks of policies, manifests and logs.
// Values and rules alone; nothing here opens a file or asks the kernel.
