// The same for tests.
#include "library.hpp"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
