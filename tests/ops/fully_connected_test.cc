// fully_connected
