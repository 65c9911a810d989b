// The same by Go: a goroutine for each connection.
package main

import (
	"fmt"
	"net"
	"os"
)

func answer(connection net.Conn) {
	defer connection.Close()
	bytes := make([]byte, 4096)
	for {
		got, err := connection.Read(bytes)
		if err != nil {
			return
		}
		if _, err := connection.Write(bytes[:got]); err != nil {
			return
		}
	}
}

func main() {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listening.Addr().(*net.TCPAddr).Port)
	for {
		connection, err := listening.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go answer(connection)
	}
}
