// Command lean is a server without groups and features, whose size a test measures.
package main

import "apigen.dev/runtime/server"

func main() { server.Main(server.Program{Name: "lean"}) }
