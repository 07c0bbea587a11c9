// data_movement
