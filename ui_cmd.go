package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

type uiCmd struct {
	NoOpen bool `help:"Print the address only, and open no browser."`
	JSON   bool `name:"json" help:"Print JSON; opens no browser."`
}

// Run has the collector serve its pages and opens them. The address lets one browser in, once: it is not for sharing.
func (c uiCmd) Run(a *app) error {
	cl, ctx, cancel, err := a.collector()
	if err != nil {
		return err
	}
	defer cancel()
	if cl.Remote() {
		return fmt.Errorf("the collector is elsewhere; type kiro-learn ui on its own machine, or empty collector.url in %s", a.dirs.ConfigFile())
	}
	address, err := cl.UI(ctx)
	if isNotFound(err) {
		return errors.New("the collector that is running is older than this program; stop it with: kiro-learn collector stop")
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(a.stdout, map[string]string{"url": address})
	}
	if _, err := fmt.Fprintf(a.stdout, "%s\nThe address lets one browser in, once, within five minutes.\n", address); err != nil || c.NoOpen {
		return err
	}
	if err := openBrowser(address); err != nil {
		_, err := fmt.Fprintln(a.stdout, "Open it in a browser on this machine.")
		return err
	}
	return nil
}

// openBrowser asks the system to open a page. It does not wait for the browser.
func openBrowser(address string) error {
	cmd := exec.Command("xdg-open", address)
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.Command("open", address)
	case "windows":
		cmd = exec.Command("rundll32", "url.dll,FileProtocolHandler", address)
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no display")
		}
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("open a browser: %w", err)
	}
	return cmd.Process.Release()
}
