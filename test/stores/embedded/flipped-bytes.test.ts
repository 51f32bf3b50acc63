import test from 'ava';
import { testFlippedReadModels } from '../../support/simulation/flipped-read-models.js';

testFlippedReadModels(test, 60);
