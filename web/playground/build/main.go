// Command build writes the playground to a directory that any host of static files can serve. Run it in web, with Node.js 20
// or later and npm:
//
//	go run ./playground/build DIR
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/ralph-sdk/ralph/web/playground"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	flag.Parse()
	dir := flag.Arg(0)
	err := errors.New("usage: go run ./playground/build DIR")
	if dir != "" {
		err = playground.Build(ctx, dir)
	}
	cancel()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("The playground is in " + dir + "; serve it with any server of static files.")
}
